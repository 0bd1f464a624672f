"""Lines from stdin, bounded: what is too long is passed over up to its end."""

import os
from collections.abc import Iterator

CHUNK_BYTES = 65536


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
