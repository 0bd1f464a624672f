"""Windows in, the gradients of their loss out."""

from collections.abc import Callable, Sequence

import torch

from imprint_trainer.data.windows import Window
from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.models.device import mixed_precision

from .loss import Read, loss_sum, read_whole

Stop = Callable[[], None]  # raises Cancelled where the job was cancelled


def add_gradients(
    model: CausalLM,
    windows: Sequence[Window],
    *,
    supervised: int,
    device: torch.device,
    before_each: Stop = lambda: None,
    read: Read = read_whole,
) -> list[float]:
    """Adds those of the loss over `supervised`, the supervised tokens of the whole step, to the parameters; the summed
    loss (nats) of each window. `before_each` may raise Cancelled."""
    losses = []
    for window in windows:
        before_each()
        with mixed_precision(device, model.dtype):
            loss = loss_sum(model, window, device, read)
        torch.autograd.backward(loss / supervised)
        losses.append(float(loss.detach()))
    return losses
