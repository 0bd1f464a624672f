"""What will be trained, known before the first step (training-data rules 5 and 6)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from imprint_trainer.data.windows import Window

from .config import LoraTraining

STEPS_PER_EPOCH = 16  # accumulate only where an epoch still has this many steps
MAX_ACCUMULATION = 8
OPEN_ENDED_TOKENS = 36_000  # budget of an open-ended training: about 100 s on two cores for the default model
OPEN_ENDED_MIN_EPOCHS, OPEN_ENDED_MAX_EPOCHS = 3, 40


@dataclass(frozen=True)
class Steps:
    accumulation: int  # windows an optimizer step sums
    per_epoch: int
    max_epochs: int

    @property
    def maximum(self) -> int:
        return self.per_epoch * self.max_epochs


def choose_accumulation(windows: int) -> int:
    """1 for a short session, so that there are enough steps; a power of two for a long one."""
    accumulation = 1
    while accumulation < MAX_ACCUMULATION and windows // (2 * accumulation) >= STEPS_PER_EPOCH:
        accumulation *= 2
    return accumulation


def plan_steps(windows: Sequence[Window], training: LoraTraining) -> Steps:
    """The last, partial batch of an epoch is a step too."""
    accumulation = training.accumulation or choose_accumulation(len(windows))
    per_epoch = math.ceil(len(windows) / accumulation)
    epochs = training.epochs
    if epochs is None:
        budget = OPEN_ENDED_TOKENS // max(1, sum(len(window.input_ids) for window in windows))
        epochs = min(OPEN_ENDED_MAX_EPOCHS, max(OPEN_ENDED_MIN_EPOCHS, budget))
    return Steps(accumulation, per_epoch, epochs)
