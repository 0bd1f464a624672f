"""The training loop: windows in, a trained adapter on the base, one plain dict a step."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from imprint_trainer.data.windows import Window
from imprint_trainer.errors import AdapterNotFinite, Cancelled, CheckpointInvalid
from imprint_trainer.models.causal_lm import CausalLM

from .checkpoints import Checkpoint, CheckpointWriter, restore_adapter, restore_training
from .config import LoraTraining
from .loss import loss_sum
from .memory import PeakMemory
from .schedule import Schedule, Steps, Trained

StepCallback = Callable[[dict[str, Any]], None]


def train(
    model: CausalLM,
    windows: Sequence[Window],
    training: LoraTraining,
    steps: Steps,
    *,
    device: torch.device,
    memory: PeakMemory,
    on_step: StepCallback,
    cancelled: Callable[[], bool],
    writer: CheckpointWriter | None = None,
    resume: Checkpoint | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Trained:
    """Trains the model's trainable parameters in place.

    The loss of a step is the mean over the supervised tokens of its whole batch (training-data rule 7).
    From a checkpoint, the same steps follow to the bit as if the training had never stopped.
    Raises Cancelled between micro-batches, AdapterNotFinite when a loss or gradient is NaN or infinite,
    CheckpointInvalid.
    """
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(
        parameters, lr=training.learning_rate, betas=training.betas, weight_decay=training.weight_decay, foreach=True
    )
    schedule = Schedule(windows, training, steps)
    if resume is not None:
        replay(schedule, resume)
        restore_training(resume, model, optimizer, device)
        if writer is not None:
            writer.resumed(schedule.done)
    first, started, tokens_seen = schedule.done, clock(), 0
    model.train()
    while (batch := schedule.next()) is not None:
        total = 0.0
        for index in batch.windows:
            if cancelled():
                if writer is not None:
                    writer.write(model, optimizer, schedule)
                raise Cancelled
            loss = loss_sum(model, windows[index], device)
            torch.autograd.backward(loss / batch.supervised)
            total += float(loss.detach())
            tokens_seen += len(windows[index].input_ids)
        norm = float(torch.nn.utils.clip_grad_norm_(parameters, training.max_grad_norm))
        if not (torch.isfinite(torch.tensor([total, norm])).all()):
            raise AdapterNotFinite(f"the loss of step {schedule.done + 1} is not finite")
        for group in optimizer.param_groups:
            group["lr"] = batch.learning_rate
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        limit = schedule.total
        schedule.record(batch, total)
        elapsed = max(clock() - started, 1e-9)
        on_step(
            {
                "step": schedule.done,
                "steps": limit,
                "epoch": schedule.done / steps.per_epoch,
                "loss": schedule.losses[-1],
                "learning_rate": batch.learning_rate,
                "grad_norm": norm,
                "tokens_per_second": tokens_seen / elapsed,
                "supervised_tokens": batch.supervised,
                "eta_seconds": elapsed / (schedule.done - first) * (limit - schedule.done),
                "peak_memory_mb": memory.mb(),
                "held_out_loss": None,
            }
        )
        if writer is not None:
            writer.after_step(model, optimizer, schedule)
    return schedule.trained()


def salvage(
    model: CausalLM, windows: Sequence[Window], training: LoraTraining, steps: Steps, checkpoint: Checkpoint
) -> Trained:
    """Gives the model the adapter of a checkpoint, and trains nothing. Raises CheckpointInvalid."""
    schedule = Schedule(windows, training, steps)
    replay(schedule, checkpoint)
    restore_adapter(checkpoint, model)
    return schedule.trained(stopped="salvaged")


def replay(schedule: Schedule, checkpoint: Checkpoint) -> None:
    if not schedule.replay(checkpoint.state.loss_sums):
        raise CheckpointInvalid(f"the training had ended before step {checkpoint.state.step}")
