"""Memory of this machine: what a training may take, what it would take, and what it took.

Imports torch only where a card is asked: previews plan with it too.
"""

import ctypes
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import psutil

from imprint_trainer.data.plan import USUAL, length_limit
from imprint_trainer.errors import OutOfMemory, TrainerError
from imprint_trainer.models.device import CGROUP, Device
from imprint_trainer.models.locate import locate_base, model_config, read_json
from imprint_trainer.models.memory_model import (
    Quantization,
    Setting,
    dequantised_fits,
    longest_window,
    names_sizes,
    plan_memory,
    shape_of,
)
from imprint_trainer.models.supported import refuse_unsupported

if TYPE_CHECKING:
    import torch

PROC = Path("/proc/self")
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # mallopt(3)
SMALLEST, LARGEST = 2**20, 32 * 2**20  # bytes; glibc's own threshold rises to the largest


def available_mb(device: str) -> float:
    """All that this process may hold, what it holds already included, in MB of 10^6 bytes: of the card on CUDA."""
    if device.startswith("cuda"):
        import torch

        return (torch.cuda.mem_get_info(device)[0] + torch.cuda.memory_reserved(device)) / 1e6
    return (available_bytes() + int(psutil.Process().memory_info().rss)) / 1e6


def available_bytes(cgroup: Path = CGROUP) -> int:
    """What could be taken without swapping, within the container's limit."""
    free = int(psutil.virtual_memory().available)
    limit, used = cgroup / "memory.max", cgroup / "memory.current"
    if limit.is_file() and used.is_file() and (text := limit.read_text().strip()).isdigit():
        free = min(free, int(text) - int(used.read_text()) + reclaimable(cgroup))
    return max(0, free)


def reclaimable(cgroup: Path) -> int:
    """Bytes of files that the container's limit counts, and that the system drops when memory is needed."""
    stat = cgroup / "memory.stat"
    lines = stat.read_text().splitlines() if stat.is_file() else []
    return sum(int(line.split()[1]) for line in lines if line.startswith(("inactive_file ", "active_file ")))


@dataclass(frozen=True)
class Planned:
    checkpointing: bool
    memory: dict[str, Any] | None  # the contracts' MemoryPlan; None where config.json does not name the sizes
    low_memory: bool = False  # memory before speed
    what: str = "training"

    def require_fit(self) -> None:
        """Raises OutOfMemory."""
        if self.memory is not None and not self.memory["fits"]:
            need, have = self.memory["total_mb"] / 1000, self.memory["available_mb"] / 1000
            found = f"the {self.what} would take {need:.1f} GB, and {have:.1f} GB are available."
            raise OutOfMemory(f"{found} {self.memory['suggestion']}")


class OnBase(Protocol):
    @property
    def base_model(self) -> str: ...


class Sized(OnBase, Protocol):
    """What of a request decides its memory besides its windows."""

    @property
    def rank(self) -> int: ...
    @property
    def target_modules(self) -> list[str] | None: ...
    @property
    def quantization(self) -> Quantization: ...


def planned_memory(request: Sized, length: int, *, device: Device, dequantised: bool | None = None) -> Planned:
    """Of a training whose longest window has `length` tokens. `dequantised`: of a base that is loaded; None decides as
    loading it would."""
    shape = shape_of(sizes_of(locate_base(request.base_model).folder))
    if shape is None:
        return Planned(False, None)
    available = available_mb(device)
    setting = Setting(
        length,
        request.rank,
        None if request.target_modules is None else tuple(request.target_modules),
        request.quantization,
        dequantised_fits(shape, available, device) if dequantised is None else dequantised,
        device=device,
    )
    chosen, memory = plan_memory(shape, setting, available)
    return Planned(chosen.checkpointing, memory, chosen.low_memory)


def sizes_of(folder: Path) -> Mapping[str, Any]:
    """What config.json says; what transformers takes it for where sizes are left out (Gemma 3)."""
    config: Mapping[str, Any] = read_json(folder / "config.json")
    if "model_type" not in config or names_sizes(config):
        return config
    try:
        return cast("Mapping[str, Any]", model_config(folder).to_dict())
    except TrainerError:
        return config


def window_limit(spec: OnBase, device: Device) -> int:
    """Tokens; decided by the base model and the machine alone, so that plans, previews and trainings agree."""
    folder = locate_base(spec.base_model).folder
    refuse_unsupported(folder)
    config = sizes_of(folder)
    shape = shape_of(config)
    fits = longest_window(config, available_mb(device), device=device)
    return length_limit(made_for=shape.positions if shape else USUAL, fits=fits, on_cpu=device == "cpu")


class PeakMemory:
    """The most that was held since it was made, in MB of 10^6 bytes: on CUDA by the allocator, else by the process.

    Where the system keeps no mark that can be reset (not Linux, or denied), the largest of the readings so far.
    """

    def __init__(self, device: "torch.device", proc: Path = PROC) -> None:
        self._device = device
        self._proc = proc
        self._largest = 0.0
        self._marked = False
        if device.type == "cuda":
            import torch

            torch.cuda.reset_peak_memory_stats(device)
        else:
            self._marked = reset_mark(proc)

    def mb(self) -> float:
        if self._device.type == "cuda":
            import torch

            return torch.cuda.max_memory_allocated(self._device) / 1e6
        now = marked(self._proc) if self._marked else int(psutil.Process().memory_info().rss)
        self._largest = max(self._largest, now / 1e6)
        return self._largest


def reset_mark(proc: Path) -> bool:
    """proc(5): 5 in clear_refs makes the present resident size the peak."""
    try:
        with (proc / "clear_refs").open("r+") as file:  # not "w": where there is none, none is made
            file.write("5")
    except OSError:
        return False
    return True


def marked(proc: Path) -> int:
    """Bytes of the largest resident size since the mark was reset."""
    lines = (proc / "status").read_text(encoding="ascii", errors="replace").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


@contextmanager
def tensors_given_back(wanted: bool) -> Iterator[None]:
    """While open and `wanted`, freed tensors of 1 MiB and more go back to the system at once, for about a fifth more
    time where steps are fast; elsewhere than on glibc nothing changes."""
    mallopt = of_glibc("mallopt") if wanted else None
    if mallopt is not None:
        mallopt(MMAP_THRESHOLD, SMALLEST)
    try:
        yield
    finally:
        if mallopt is not None:
            mallopt(MMAP_THRESHOLD, LARGEST)
            mallopt(TRIM_THRESHOLD, 2 * LARGEST)


def of_glibc(name: str) -> Callable[..., int] | None:
    """A function of the C library; None where it is another one."""
    found = getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
    return cast("Callable[..., int] | None", found)
