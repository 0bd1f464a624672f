"""The zip container that `torch.save` writes, read by our own code: sizes are checked before anything is allocated."""

from pathlib import Path
from types import TracebackType
from typing import Self
from zipfile import ZIP_STORED, BadZipFile, ZipFile

from imprint_trainer.errors import HypernetworkInvalid

MAX_PICKLE_BYTES = 4 * 2**20  # the object tree alone: names, shapes and settings, no weights


class Archive:
    """Entries of one checkpoint, by their name below the archive's single top folder."""

    def __init__(self, path: Path) -> None:
        try:
            self._zip = ZipFile(path)
        except FileNotFoundError:
            raise HypernetworkInvalid(f"There is no checkpoint at {path.name}.") from None
        except (BadZipFile, OSError, ValueError, NotImplementedError):
            raise HypernetworkInvalid(
                f"{path.name} is no checkpoint of torch.save, or is truncated: its zip directory cannot be read."
            ) from None
        try:
            self._folder = self._check(path)
        except HypernetworkInvalid:
            self._zip.close()
            raise

    def _check(self, path: Path) -> str:
        entries = self._zip.infolist()
        pickles = [entry for entry in entries if entry.filename.endswith("/data.pkl")]
        if len(pickles) != 1 or pickles[0].filename.count("/") != 1:
            raise HypernetworkInvalid(f"{path.name} is no checkpoint of torch.save: it holds no data.pkl.")
        if len({entry.filename for entry in entries}) != len(entries):
            raise HypernetworkInvalid(f"{path.name} names an entry twice.")
        # torch.save stores without compression, so entries never add up to more than the file (no zip bombs)
        if any(entry.compress_type != ZIP_STORED for entry in entries):
            raise HypernetworkInvalid(f"{path.name} is compressed, which torch.save never does.")
        if sum(entry.file_size for entry in entries) > path.stat().st_size:
            raise HypernetworkInvalid(f"{path.name} claims more bytes than it holds.")
        if pickles[0].file_size > MAX_PICKLE_BYTES:
            raise HypernetworkInvalid(f"{path.name} has a data.pkl of more than {MAX_PICKLE_BYTES} bytes.")
        return pickles[0].filename.removesuffix("data.pkl")

    def read(self, name: str, *, size: int | None = None) -> bytes:
        """An entry's bytes; `size` is what the caller expects."""
        try:
            entry = self._zip.getinfo(self._folder + name)
            if size is not None and entry.file_size != size:
                raise HypernetworkInvalid(f"Entry {name} has {entry.file_size} bytes where {size} were announced.")
            return self._zip.read(entry)
        except (KeyError, BadZipFile, OSError, EOFError, RuntimeError, NotImplementedError):
            raise HypernetworkInvalid(f"The checkpoint is damaged: entry {name} cannot be read.") from None

    def has(self, name: str) -> bool:
        return self._folder + name in self._zip.namelist()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()
