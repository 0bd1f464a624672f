"""Windows in, the gradients of their loss out."""

from collections.abc import Callable, Sequence

import torch

from imprint_trainer.data.windows import Window
from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.models.device import mixed_precision

from .loss import Read, loss_sum, read_whole
from .schedule import WindowBatch

Stop = Callable[[], None]  # raises Cancelled where the job was cancelled
BatchGradients = Callable[[WindowBatch, Stop], list[float]]  # adds them; the loss sum of each window


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


def on_this_process(
    model: CausalLM, windows: Sequence[Window], device: torch.device, read: Read = read_whole
) -> BatchGradients:
    """Those of a batch of these windows, computed here alone."""

    def add(batch: WindowBatch, stop: Stop) -> list[float]:
        chosen = [windows[index] for index in batch.windows]
        return add_gradients(model, chosen, supervised=batch.supervised, device=device, before_each=stop, read=read)

    return add
