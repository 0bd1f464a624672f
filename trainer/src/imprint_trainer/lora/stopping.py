"""When a training without a number of epochs ends: a rule on losses alone, so the same data stop at the same step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

LEARNED_FRACTION = 0.22  # of the first epoch's loss: past this the session is learned by heart and the rest forgotten
IMPROVEMENT = 0.02  # an epoch that improves the best loss by less than this fraction counts as none
PATIENCE = 3  # epochs without improvement

Reason = Literal["learned", "no_improvement"]


@dataclass(frozen=True)
class Stop:
    reason: Reason
    epoch: int


def should_stop(epoch_losses: Sequence[float]) -> Stop | None:
    """`epoch_losses`: mean loss over supervised tokens of each epoch so far, in nats."""
    latest = epoch_losses[-1]
    if latest <= LEARNED_FRACTION * epoch_losses[0]:
        return Stop("learned", len(epoch_losses))
    best, stale = float("inf"), 0
    for loss in epoch_losses:
        stale = 0 if loss < best * (1 - IMPROVEMENT) else stale + 1
        best = min(best, loss)
    return Stop("no_improvement", len(epoch_losses)) if stale >= PATIENCE else None
