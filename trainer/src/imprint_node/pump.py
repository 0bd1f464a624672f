"""What a worker writes, into a file of the shared storage."""

import contextlib
import hashlib
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

CHUNK_BYTES = 65536
LOG_BYTES = 64 * 2**20
VERDICTS = ("done", "failed", "cancelled")


class Events:
    """Copies events byte for byte, and notes which ones matter to whoever watches the worker."""

    def __init__(self, path: Path, *, on_full: Callable[[], None]) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._on_full = on_full
        self._hash = hashlib.sha256()
        self.bytes = 0
        self.full = False
        self.ready = False
        self.verdict = False
        self.news = threading.Event()  # either, or the end

    def copy(self, source: IO[bytes]) -> None:
        for line in source:
            self._write(line)
            self._note(line)
        self.news.set()

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def _write(self, line: bytes) -> None:
        rest = memoryview(line)
        while rest and not self.full:
            try:
                written = os.write(self._file, rest)
            except OSError:
                self.full = True
                self._on_full()
                return
            self._hash.update(rest[:written])
            self.bytes += written
            rest = rest[written:]

    def _note(self, line: bytes) -> None:
        kind = kind_of(line)
        self.ready = self.ready or kind == "ready"
        self.verdict = self.verdict or kind in VERDICTS
        if kind != "heartbeat":
            self.news.set()


def kind_of(line: bytes) -> Any:
    """What an event is; None for what is none: the service judges that."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event.get("type") if isinstance(event, dict) else None


def copy_log(source: IO[bytes], path: Path) -> None:
    """Never blocks the worker: what is too much, or does not fit on the disk, is read all the same."""
    written = 0
    with path.open("ab", buffering=0) as file:
        while chunk := os.read(source.fileno(), CHUNK_BYTES):
            if written < LOG_BYTES:
                with contextlib.suppress(OSError):
                    written += file.write(chunk) or 0
