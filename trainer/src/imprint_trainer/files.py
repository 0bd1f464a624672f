"""Files that are on the disk, deterministic to the byte, before anybody is told."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    write_text(path, json.dumps(value, indent=2, sort_keys=True, allow_nan=False, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
    sync(path)


def list_files(folder: Path) -> list[dict[str, Any]]:
    """Name, size and SHA-256 of each file, by name; the folder itself is flushed."""
    if os.name == "posix":
        sync(folder)
    return [
        {"name": path.name, "size": path.stat().st_size, "sha256": sha256_of(path)} for path in sorted(folder.iterdir())
    ]


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync(path: Path) -> None:
    """Forces a file's or folder's content to the disk."""
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() or os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
