"""The worker's stdin and stdout: lines in, bounded, and events out and nothing else, whatever libraries print."""

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

CHUNK_BYTES = 65536


class Channel:
    """Writes one event a line. Safe to use from every thread; a line is never torn."""

    def __init__(self, descriptor: int, *, on_closed: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._on_closed = on_closed
        self._lock = threading.Lock()

    def send(self, event: dict[str, Any]) -> None:
        """Raises ValueError for NaN and infinity, which are no JSON."""
        line = json.dumps(event, allow_nan=False, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"
        try:
            with self._lock:
                while line:
                    line = line[os.write(self._descriptor, line) :]
        except OSError:  # nobody reads any more
            self._on_closed()


def seize_stdout(*, on_closed: Callable[[], None]) -> Channel:
    """Keeps the real stdout for the channel; from now on descriptor 1 is stderr, also for C libraries."""
    sys.stdout.flush()
    descriptor = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return Channel(descriptor, on_closed=on_closed)


class TooLong:
    """Stands for a line that exceeded the bound."""


def read_lines(descriptor: int, *, max_bytes: int) -> Iterator[bytes | TooLong]:
    """Lines without their newline, until the end of input. A last line without a newline is half a line: left out."""
    pending = bytearray()
    skipping = False
    while chunk := os.read(descriptor, CHUNK_BYTES):
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            pending += chunk[start:end]
            start = end + 1
            if skipping or len(pending) > max_bytes:
                yield TooLong()
            elif pending.strip():
                yield bytes(pending)
            pending.clear()
            skipping = False
        pending += chunk[start:]
        if len(pending) > max_bytes:
            skipping = True
            pending.clear()
