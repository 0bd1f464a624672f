"""When a training without a number of epochs cools down: a rule on losses alone, the same for the same data."""

import math
from collections.abc import Sequence
from typing import Literal

LEARNED_FRACTION = 0.3  # of the first epoch's loss: a training at the full rate past this forgets more than it learns
IMPROVEMENT = 0.02  # an epoch that improves the best loss by less than this fraction counts as none
PATIENCE = 3  # epochs without improvement
COOL_DOWN = 0.8  # epochs at a falling rate, for each one before them: a lower loss for little drift

Reason = Literal["learned", "no_improvement", "token_budget"]


def should_cool(epoch_losses: Sequence[float], max_epochs: int) -> Reason | None:
    """Whether the rate falls from now on, and why; the cool-down of the longest training ends with epoch `max_epochs`.

    `epoch_losses`: mean loss over supervised tokens of each epoch so far, in nats.
    """
    done = len(epoch_losses)
    if epoch_losses[-1] <= LEARNED_FRACTION * epoch_losses[0]:
        return "learned"
    best, stale = float("inf"), 0
    for loss in epoch_losses:
        stale = 0 if loss < best * (1 - IMPROVEMENT) else stale + 1
        best = min(best, loss)
    if stale >= PATIENCE:
        return "no_improvement"
    return "token_budget" if done + cool_down(done) >= max_epochs else None


def cool_down(epochs: int) -> int:
    """Epochs at a falling rate after so many at the full one."""
    return math.ceil(COOL_DOWN * epochs)
