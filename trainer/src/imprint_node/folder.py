"""The files of an attempt, as docs/ray.md lists them. A file that another machine reads is whole or not there."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

ATTEMPT, EVENTS, LOG, REQUESTS, STOP, END = (
    "attempt.json",
    "events.ndjson",
    "log.txt",
    "requests",
    "stop.json",
    "end.json",
)
RESERVED_BYTES = 256 * 1024  # for the end of an attempt that filled the disk


class Fenced(Exception):  # noqa: N818  named for what happened
    """The attempt's folder is gone: its job is somebody else's by now."""


class Folder:
    """What the supervisor of an attempt reads and writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.attempt: dict[str, Any] = json.loads((path / ATTEMPT).read_text("utf-8"))

    def requests_after(self, count: int) -> list[bytes]:
        """The requests that were not taken yet, in their order, each a line."""
        found: list[bytes] = []
        while (one := self.path / REQUESTS / f"{count + len(found):04d}.json").is_file():
            found.append(one.read_bytes())
        return found

    def stop(self) -> str | None:
        """How the attempt is to stop: "term", "kill", or not at all. Raises Fenced."""
        try:
            return str(json.loads((self.path / STOP).read_text("utf-8"))["how"])
        except FileNotFoundError:
            if not (self.path / ATTEMPT).is_file():
                raise Fenced from None
            return None
        except (OSError, ValueError, KeyError):
            return None  # the storage does not answer, or not in full: asked again soon

    def reserve(self) -> None:
        part = self.path / f".{END}"
        part.write_bytes(b" " * RESERVED_BYTES)
        sync(part)

    def end(self, record: dict[str, Any]) -> None:
        """The last file of an attempt: in the place that was reserved, under its name only when it is whole."""
        content = json.dumps(record, allow_nan=False).encode("ascii")
        part = self.path / f".{END}"
        with part.open("r+b") as file:
            file.write(content)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
        part.replace(self.path / END)


def sync(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def listed(folder: Path) -> list[dict[str, Any]]:
    """Name, size and hash of each regular file."""
    files = (
        sorted(path for path in folder.iterdir() if path.is_file() and not path.is_symlink()) if folder.is_dir() else []
    )
    return [{"name": path.name, "size": path.stat().st_size, "sha256": sha256_of(path)} for path in files]
