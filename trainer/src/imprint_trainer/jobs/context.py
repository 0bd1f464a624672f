"""What a job may ask of its worker."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from imprint_trainer.errors import Cancelled
from imprint_trainer.lora.memory import PeakMemory
from imprint_trainer.lora.together.choice import PASS_TOKENS, Choice
from imprint_trainer.memory_model import Device
from imprint_trainer.models.base import LoadedBase, Quantization

if TYPE_CHECKING:
    from imprint_trainer.jobs.held_base import HeldBase
    from imprint_trainer.lora.parallel.nodes import Nodes


class BaseOf(Protocol):
    """Gives a base model, resident or loaded. `dequantised`: as `load_base` has it; None takes the resident one as it
    is."""

    def __call__(
        self, path_or_hub_id: str, quantization: Quantization, *, dequantised: bool | None = None
    ) -> LoadedBase: ...


@dataclass(frozen=True)
class JobContext:
    """`emit` sends an event, to which the worker adds the job's id. `tokenizer` gives a base model's tokenizer, and
    loads no weights for that. `memory` counts from the job's beginning."""

    emit: Callable[[dict[str, Any]], None]
    cancelled: Callable[[], bool]
    base: BaseOf
    tokenizer: Callable[[str], Any]
    memory: PeakMemory
    device: Device = "cpu"
    processes: int = 1  # that a LoRA training may run on
    node_count: int = 1  # that have as many of those each
    nodes: "Nodes | None" = None  # how the others are reached
    shards: int = 1  # that its base is held in, by as many processes
    held: "HeldBase | None" = None  # who holds it, where shards are more than one
    jobs_per_batch: int = 1  # LoRA trainings that may go side by side
    choice: Choice = field(default_factory=Choice)  # which of their windows share a pass

    @property
    def on_each_node(self) -> int:
        return self.processes // self.node_count

    @property
    def pass_tokens(self) -> int:
        """Tokens of several windows that may share a pass; 0 where none do."""
        return PASS_TOKENS[self.device] if self.jobs_per_batch > 1 else 0

    def phase(self, name: str) -> None:
        """Also a point where a cancelled job ends."""
        self.stop_if_cancelled()
        self.emit({"type": "phase", "phase": name})

    def stop_if_cancelled(self) -> None:
        if self.cancelled():
            raise Cancelled
