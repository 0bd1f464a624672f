"""What a job may ask of its worker."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from imprint_trainer.errors import Cancelled
from imprint_trainer.models.causal_lm import LoadedBase, Quantization
from imprint_trainer.models.device import Device
from imprint_trainer.models.memory import PeakMemory


class BaseOf(Protocol):
    """Gives a base model, resident or loaded. `dequantised`: as in `load_base`; None takes a resident one as it is."""

    def __call__(
        self, path_or_hub_id: str, quantization: Quantization, *, dequantised: bool | None = None
    ) -> LoadedBase: ...


@dataclass(frozen=True)
class JobContext:
    """`emit` sends an event, to which the worker adds the job's id. `tokenizer` gives a base model's, and loads no
    weights for that. `memory` counts from the job's beginning; `clock` tells seconds."""

    emit: Callable[[dict[str, Any]], None]
    cancelled: Callable[[], bool]
    base: BaseOf
    tokenizer: Callable[[str], Any]
    memory: PeakMemory
    device: Device = "cpu"
    clock: Callable[[], float] = time.perf_counter

    def phase(self, name: str) -> None:
        """Also a point where a cancelled job ends."""
        self.stop_if_cancelled()
        self.emit({"type": "phase", "phase": name})

    def stop_if_cancelled(self) -> None:
        if self.cancelled():
            raise Cancelled
