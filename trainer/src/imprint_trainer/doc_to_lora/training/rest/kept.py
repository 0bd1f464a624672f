"""What the frozen base has read, in files: each window and document passes its lower blocks once."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

Tensors = dict[str, Tensor]


class KeptReadings:
    """Files in a folder, at most `room` bytes of them: what finds no room is read again whenever it is asked for, with
    the same numbers."""

    def __init__(self, folder: Path, room: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for part in folder.glob("*.part"):
            part.unlink()
        self._folder = folder
        self._left = room - sum(path.stat().st_size for path in folder.glob("*.safetensors"))

    def get(self, key: str | None, read: Callable[[], Tensors]) -> Tensors:
        """None: of what will not be asked for again."""
        if key is None:
            return read()
        path = self._folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.safetensors"
        try:
            known: Tensors = load_file(path)
            return known
        except (OSError, SafetensorError):
            found = {name: value.contiguous() for name, value in read().items()}
        size = sum(value.nbytes for value in found.values())
        if size <= self._left:
            part = path.with_suffix(".part")
            save_file(found, part)
            part.rename(path)
            self._left -= size
        return found
