"""Loss and top-1 hits on supervised tokens, teacher forced, as the sums that means and intervals are made of."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from imprint_trainer.data.windows import Window
from imprint_trainer.lora.loss import supervised_logits
from imprint_trainer.models.causal_lm import CausalLM


class Loss(NamedTuple):
    """Over some tokens: summed negative log likelihood in nats, how many they are, and how many are top-1 right."""

    nll: float
    tokens: int
    top1: int

    @property
    def mean(self) -> float:
        """Nats per token; 0 where there are none."""
        return self.nll / self.tokens if self.tokens else 0.0

    @property
    def top1_share(self) -> float:
        return self.top1 / self.tokens if self.tokens else 0.0


def total(losses: Iterable[Loss]) -> Loss:
    kept = list(losses)
    return Loss(sum(one.nll for one in kept), sum(one.tokens for one in kept), sum(one.top1 for one in kept))


def measure_loss(model: CausalLM, windows: Sequence[Window], device: torch.device) -> list[Loss]:
    """One `Loss` a window, of a plain or PEFT-wrapped model in eval mode."""
    found = []
    for window in windows:
        nll, hits = token_losses(model, window, device)
        found.append(Loss(float(nll.sum()), len(nll), int(hits.sum())))
    return found


@torch.no_grad()
def token_losses(model: CausalLM, window: Window, device: torch.device) -> tuple[Tensor, Tensor]:
    """Nats [s] in fp64 and whether the likeliest token is the right one [s], for the window's targets in order.

    Only a chunk's logits exist at one time.
    """
    losses, hits = [torch.zeros(0, dtype=torch.float64)], [torch.zeros(0, dtype=torch.bool)]
    for logits, wanted in supervised_logits(model, window, device):
        losses.append(F.cross_entropy(logits, wanted, reduction="none").double().cpu())
        hits.append((logits.argmax(-1) == wanted).cpu())
    return torch.cat(losses), torch.cat(hits)
