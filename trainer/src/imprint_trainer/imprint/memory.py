"""What an imprint takes of memory, predicted from config.json and hypernetwork.json: docs/imprints.md.

Imports no torch: the command line predicts with it too. MB are 10^6 bytes.
"""

from dataclasses import dataclass
from typing import Any

from imprint_trainer.models.device import Device
from imprint_trainer.models.locate import locate_base
from imprint_trainer.models.memory import Planned, available_mb, sizes_of
from imprint_trainer.models.memory_model import (
    FP32,
    MB,
    ROOM,
    Setting,
    Shape,
    dequantised_fits,
    gigabytes,
    predict,
    shape_of,
)

WINDOW, MOST_SUPERVISED = 1024, 4096  # tokens that are read at once; of the agent, but for the last window's
FIRST, LAST = 2 / 3, 9 / 10  # of a base's blocks: layers 20 to 26 of 30 did best (docs/imprints.md)
MEASURING = 5  # tables of a layer's inputs by themselves, that its measurement takes beside what is kept of all
SOLVING = (6, 2)  # tables of tokens by inputs, and of inputs by themselves, that solving one takes


@dataclass(frozen=True)
class Solved:
    """What a closed form solves for so many layers, bytes of what it knows, and of how many of the agent's tokens; None
    where second moments are still to be measured. 0 layers: nothing is solved."""

    layers: int
    inputs: int  # width of what enters an adapted layer
    outputs: int
    stored: int = 0
    tokens: int | None = None

    @property
    def bytes(self) -> int:
        tokens, square = (self.tokens or MOST_SUPERVISED) + WINDOW, self.inputs**2
        solving = tokens * ((self.layers + SOLVING[0]) * self.inputs + self.outputs) + SOLVING[1] * square
        return FP32 * (solving if self.tokens else max(solving, (self.layers + MEASURING) * square))


def adapted_blocks(blocks: int) -> range:
    """Of a base with so many."""
    first = int(blocks * FIRST)
    return range(first, max(first + 1, int(blocks * LAST)))


def planned_imprint(base_model: str, solved: Solved | None, device: Device) -> tuple[Planned, bool | None]:
    """`solved` None: of what would be measured for the base. Also how the base is to be held: as quantised where plain
    numbers would not fit, else as loading decides (None)."""
    shape = shape_of(sizes_of(locate_base(base_model).folder))
    if shape is None:
        return Planned(False, None), None
    solved = solved or Solved(len(adapted_blocks(shape.layers)), shape.intermediate, shape.hidden)
    available = available_mb(device)
    plain = memory_plan(shape, solved, available, device, dequantised=dequantised_fits(shape, available, device))
    if plain["fits"]:
        return Planned(False, plain, what="imprint"), None
    return Planned(False, memory_plan(shape, solved, available, device, dequantised=False), what="imprint"), False


def memory_plan(
    shape: Shape, solved: Solved, available_mb: float, device: Device, *, dequantised: bool
) -> dict[str, Any]:
    """The contracts' `MemoryPlan`; what is solved counts as activations."""
    # One window is read without a backward pass: about what a training with checkpointing holds of it.
    read = predict(shape, Setting(WINDOW, 1, dequantised=dequantised, checkpointing=True, device=device))
    weights, solution = read.weights + solved.stored / MB, read.activations + solved.bytes / MB
    total = read.fixed + weights + solution + read.logits
    fits = total <= available_mb
    return {
        "weights_mb": round(weights),
        "activations_mb": round(solution),
        "optimizer_mb": 0,
        "logits_mb": round(read.logits),
        "total_mb": round(total),
        "available_mb": round(available_mb),
        "fits": fits,
        "suggestion": None
        if fits
        else f"Train a LoRA adapter, which takes less, or take a machine with {gigabytes(total / ROOM)} free.",
    }
