"""A file that grows, on a store whose objects do not: numbered parts, each written once and whole, in their order."""

from collections.abc import Callable
from pathlib import Path

PART_BYTES = 4 * 2**20


class Segments:
    """Part 0 says that the file is there; a part that was sent and not confirmed is sent again as it was."""

    def __init__(self, path: Path, put: Callable[[int, bytes], None], *, sent: int = 0) -> None:
        """`sent`: so many parts of what is in the file now are there already."""
        self._path = path
        self._put = put
        self._next = sent
        self._bytes = path.stat().st_size if sent > 0 else 0
        self._pending: bytes | None = None

    def carry(self) -> None:
        """Sends what is new."""
        if not self._path.is_file():
            return
        with self._path.open("rb") as file:
            file.seek(self._bytes + len(self._pending or b""))
            while True:
                if self._pending is None:
                    self._pending = file.read(PART_BYTES)
                    if not self._pending and self._next > 0:
                        self._pending = None
                        return
                self._put(self._next, self._pending)
                self._next += 1
                self._bytes += len(self._pending)
                self._pending = None
