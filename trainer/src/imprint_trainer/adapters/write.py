"""Writes an adapter's files, deterministic to the byte and on the disk before anybody is told."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from imprint_trainer.adapters.payload import Payload
from imprint_trainer.errors import TrainerError

CONFIG_FILE, WEIGHTS_FILE = "adapter_config.json", "adapter_model.safetensors"


class OutputNotEmptyError(TrainerError, FileExistsError):
    """The staging folder is somebody else's."""


def claim_folder(folder: Path) -> None:
    """An empty folder to write into, made if need be. Raises OutputNotEmptyError."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise OutputNotEmptyError("output_dir is not empty")


def empty_folder(folder: Path) -> None:
    """Removes what a job that failed has written."""
    for path in folder.iterdir() if folder.is_dir() else ():
        path.unlink(missing_ok=True)


def write_weights(folder: Path, payload: Payload) -> None:
    from safetensors.torch import save_file

    tensors = {key: payload.tensors[key] for key in sorted(payload.tensors)}
    save_file(tensors, folder / WEIGHTS_FILE, metadata={"format": "pt"})
    (folder / WEIGHTS_FILE).chmod(0o644)
    sync(folder / WEIGHTS_FILE)
    write_json(folder / CONFIG_FILE, payload.config)


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
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() or os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
