"""What a request takes of this machine's memory: the same figures for previews, plans and refusals."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from imprint_trainer.available_memory import available_mb
from imprint_trainer.errors import OutOfMemory
from imprint_trainer.memory_model import Device, Quantization, Setting, dequantised_fits, plan_memory, shape_of
from imprint_trainer.models.locate import locate_base
from imprint_trainer.models.scan import read_json

NVIDIA = Path("/proc/driver/nvidia/version")


@dataclass(frozen=True)
class Planned:
    checkpointing: bool
    memory: dict[str, Any] | None  # the contracts' MemoryPlan; None where config.json does not name the sizes
    scarce: bool = False  # memory before speed

    def require_fit(self) -> None:
        """Raises OutOfMemory."""
        if self.memory is not None and not self.memory["fits"]:
            need, have = self.memory["total_mb"] / 1000, self.memory["available_mb"] / 1000
            raise OutOfMemory(
                f"the training would take {need:.1f} GB, and {have:.1f} GB are available. {self.memory['suggestion']}"
            )


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
    shape = shape_of(read_json(locate_base(request.base_model).folder / "config.json"))
    if shape is None:
        return Planned(False, None)
    available = available_mb(device)
    setting = Setting(
        length,
        request.rank,
        None if request.target_modules is None else tuple(request.target_modules),
        request.quantization,
        dequantised_fits(shape, available) if dequantised is None else dequantised,
        device=device,
    )
    chosen, memory = plan_memory(shape, setting, available)
    return Planned(chosen.checkpointing, memory, chosen.scarce)


def device_kind(requested: str) -> Device:
    """Of the worker's setting. Imports torch only on machines with a card."""
    if requested == "cpu" or (requested == "auto" and not NVIDIA.exists()):
        return "cpu"
    from imprint_trainer.models.device import pick_device

    return "cuda" if pick_device(requested).type == "cuda" else "cpu"
