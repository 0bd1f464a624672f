"""The training loop: windows in, a trained adapter on the base, one plain dict a step."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from imprint_trainer.data.windows import Window
from imprint_trainer.errors import AdapterNotFinite, Cancelled

from .config import LoraTraining
from .loss import loss_sum, supervised_count
from .memory import peak_memory_mb
from .order import batches, epoch_order
from .plan import Steps
from .schedule import learning_rate
from .stopping import cool_down, should_cool

StepCallback = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Trained:
    losses: tuple[float, ...]  # one a step
    epoch_losses: tuple[float, ...]
    order: tuple[tuple[int, ...], ...]  # window indices of each step
    stopped: str  # "epochs"; open-ended, why it cooled down: see stopping.py


def train(
    model: Any,
    windows: Sequence[Window],
    training: LoraTraining,
    steps: Steps,
    *,
    device: torch.device,
    on_step: StepCallback,
    cancelled: Callable[[], bool],
    clock: Callable[[], float] = time.perf_counter,
) -> Trained:
    """Trains the model's trainable parameters in place.

    The loss of a step is the mean over the supervised tokens of its whole batch (training-data rule 7).
    Raises Cancelled between micro-batches and AdapterNotFinite when a loss or gradient is NaN or infinite.
    """
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(
        parameters, lr=training.learning_rate, betas=training.betas, weight_decay=training.weight_decay, foreach=True
    )
    open_ended = training.epochs is None
    losses: list[float] = []
    epoch_losses: list[float] = []
    taken: list[tuple[int, ...]] = []
    started, tokens_seen = clock(), 0
    stopped = "token_budget" if open_ended else "epochs"
    cooling = range(0)  # steps
    epoch, epochs = 0, steps.max_epochs
    model.train()
    while epoch < epochs:
        epoch_sum, epoch_tokens = 0.0, 0
        for batch in batches(epoch_order(windows, seed=training.seed, epoch=epoch), steps.accumulation):
            rate = learning_rate(
                len(losses),
                peak=training.learning_rate,
                max_steps=steps.maximum,
                warmup_fraction=training.warmup_fraction,
                open_ended=open_ended,
                cooling=cooling,
            )
            supervised = sum(supervised_count(windows[index]) for index in batch)
            total = 0.0
            for index in batch:
                if cancelled():
                    raise Cancelled
                loss = loss_sum(model, windows[index], device)
                torch.autograd.backward(loss / supervised)
                total += float(loss.detach())
                tokens_seen += len(windows[index].input_ids)
            norm = float(torch.nn.utils.clip_grad_norm_(parameters, training.max_grad_norm))
            if not (torch.isfinite(torch.tensor([total, norm])).all()):
                raise AdapterNotFinite(f"the loss of step {len(losses) + 1} is not finite")
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            losses.append(total / supervised)
            taken.append(tuple(batch))
            epoch_sum, epoch_tokens = epoch_sum + total, epoch_tokens + supervised
            elapsed = max(clock() - started, 1e-9)
            on_step(
                {
                    "step": len(losses),
                    "steps": epochs * steps.per_epoch,
                    "epoch": epoch + (len(losses) - epoch * steps.per_epoch) / steps.per_epoch,
                    "loss": losses[-1],
                    "learning_rate": rate,
                    "grad_norm": norm,
                    "tokens_per_second": tokens_seen / elapsed,
                    "supervised_tokens": supervised,
                    "eta_seconds": elapsed / len(losses) * (epochs * steps.per_epoch - len(losses)),
                    "peak_memory_mb": peak_memory_mb(device),
                }
            )
        epoch_losses.append(epoch_sum / epoch_tokens)
        epoch += 1
        if open_ended and not cooling and (reason := should_cool(epoch_losses, steps.max_epochs)):
            stopped = reason
            epochs = min(epochs, epoch + cool_down(epoch))
            cooling = range(len(losses), epochs * steps.per_epoch)
    return Trained(tuple(losses), tuple(epoch_losses), tuple(taken), stopped)
