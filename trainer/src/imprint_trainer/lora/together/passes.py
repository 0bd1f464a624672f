"""Gradients of several trainings' windows in one forward and backward pass."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from imprint_trainer.data.windows import Window
from imprint_trainer.lora.fuse import fused
from imprint_trainer.lora.loss import cross_entropies, window_tensors
from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.models.device import mixed_precision
from imprint_trainer.models.output_head import output_head

from .attention import read_windows
from .layers import GroupedLinear
from .seat import Seat, placed


@dataclass(frozen=True)
class Share:
    """Windows of one training in a pass. `supervised`: the supervised tokens of its whole step."""

    seat: Seat
    windows: Sequence[Window]
    supervised: int


def add_gradients_together(base: CausalLM, shares: Sequence[Share], device: torch.device) -> list[list[float]]:
    """As `add_gradients` does for each share alone, with no adapter on the base: the summed loss (nats) of each of its
    windows. All have adapters on the same layers."""
    windows = [window for share in shares for window in share.windows]
    inputs, positions, targets = zip(*(window_tensors(window, device) for window in windows), strict=True)
    lengths = [ids.shape[1] for ids in inputs]
    starts = [sum(lengths[:at]) for at in range(len(lengths))]
    shared = iter(lengths)
    rows = [sum(next(shared) for _ in share.windows) for share in shares]
    places = shares[0].seat.places
    layers = {name: GroupedLinear([one.seat.layers[name] for one in shares], rows) for name in places}
    base.train()
    with placed(places, layers), fused(base), mixed_precision(device, base.dtype):
        hidden = read_windows(base, [ids[0] for ids in inputs])
        chosen = torch.cat([own + start for own, start in zip(positions, starts, strict=True)])
        losses = cross_entropies(hidden.index_select(0, chosen), output_head(base), torch.cat(targets))
        sums = torch.stack([part.sum() for part in torch.split(losses, [len(own) for own in positions])])
        weights = [1 / share.supervised for share in shares for _ in share.windows]
    torch.autograd.backward(sums @ sums.new_tensor(weights))
    base.eval()
    found = iter(sums.tolist())
    return [[next(found) for _ in share.windows] for share in shares]
