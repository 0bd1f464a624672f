"""What a pull says while it works, and the room that it needs."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from imprint_trainer.errors import DiskFull
from imprint_trainer.models.memory_model import gigabytes


@dataclass(frozen=True)
class Step:
    """How far a download is."""

    doing: str
    done: int  # bytes
    total: int

    def __str__(self) -> str:
        return f"{self.doing}: {self.done / 1e6:,.0f} of {self.total / 1e6:,.0f} MB"


Progress = Callable[[str | Step], None]
SPARE = 256 * 2**20  # bytes that stay free
CONVERTED = 6  # bytes that a folder takes for each parameter: bf16, NF4 beside embeddings in fp32, llama.cpp's file
STEPS = 20
STEP = 50 * 10**6  # bytes, at most


def require_room(folder: Path, needed: int) -> None:
    """Raises DiskFull before anything is written."""
    at = folder.absolute()
    while not at.exists():
        at = at.parent
    free = shutil.disk_usage(at).free
    if free < needed + SPARE:
        least = gigabytes((needed + SPARE) / 1e6)
        raise DiskFull(f"about {least} are needed in {folder}, and {gigabytes(free / 1e6)} are free")


def meter(progress: Progress, doing: str, total: int) -> Callable[[int], None]:
    """Takes how many bytes are there, and says so at every twentieth, and at every 50 MB of what is large."""
    told, steps = -1, max(STEPS, total // STEP)

    def tell(done: int) -> None:
        nonlocal told
        step = steps * done // max(1, total)
        if step != told:
            told = step
            progress(Step(doing, done, total))

    return tell
