"""What an adapter does to text that was held out, with how sure that is."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from imprint_trainer.data.holdout import HeldOut
from imprint_trainer.data.windows import Window
from imprint_trainer.lora.loss import Read, supervised_logits
from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.resampling import interval

SEED = 0

WORSE = (
    "On the held-out part the loss rises: what was trained was learned by heart, and the model is worse at other parts "
    "of the work."
)


@dataclass(frozen=True)
class Change:
    """Summed losses of the supervised tokens of one unit: a session, a window, a turn or a token."""

    tokens: int
    before: float
    after: float


@torch.no_grad()
def token_losses(model: CausalLM, window: Window, device: torch.device, read: Read) -> Tensor:
    """Of each supervised token but the first of the window, nats, [s] on the CPU."""
    parts = supervised_logits(model, window, device, read)
    return torch.cat([F.cross_entropy(logits, wanted, reduction="none") for logits, wanted in parts]).cpu()


def held_out_proof(held_out: HeldOut, before: Sequence[Tensor], after: Sequence[Tensor]) -> dict[str, Any]:
    """The contracts' `HeldOutProof`, from the losses of each window without and with the adapter."""
    total = summed([(0, change) for change in token_changes(before, after)])[0]
    units = units_of(held_out, before, after)
    return {
        "tokens": total.tokens,
        "loss_before": total.before / total.tokens,
        "loss_after": total.after / total.tokens,
        "interval": list(interval(units, mean_change, SEED) or (mean_change(units),) * 2),
    }


def units_of(held_out: HeldOut, before: Sequence[Tensor], after: Sequence[Tensor]) -> list[Change]:
    """Sessions where there are several, else windows, else turns, else tokens: what a bootstrap draws from."""
    changes = token_changes(before, after)
    sessions, windows, turns = [], [], []
    for number, (session_id, window) in enumerate(held_out.windows):
        starts = [lesson.start for lesson in window.lessons[1:]]
        for index, supervised in enumerate(window.supervised):
            if supervised and index > 0:
                sessions.append(session_id)
                windows.append(number)
                turns.append((number, sum(start <= index for start in starts)))
    for level in (sessions, windows, turns):
        units = summed(list(zip(level, changes, strict=True)))
        if len(units) > 1:
            return units
    return changes


def token_changes(before: Sequence[Tensor], after: Sequence[Tensor]) -> list[Change]:
    pairs = zip(torch.cat(list(before)).tolist(), torch.cat(list(after)).tolist(), strict=True)
    return [Change(1, one, other) for one, other in pairs]


def summed(changes: Sequence[tuple[object, Change]]) -> list[Change]:
    groups: defaultdict[object, list[Change]] = defaultdict(list)
    for key, change in changes:
        groups[key].append(change)
    return [
        Change(sum(c.tokens for c in found), sum(c.before for c in found), sum(c.after for c in found))
        for found in groups.values()
    ]


def mean_change(units: Sequence[Change]) -> float:
    return sum(one.after - one.before for one in units) / sum(one.tokens for one in units)
