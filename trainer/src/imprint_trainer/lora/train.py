"""The training loop: windows in, a trained adapter on the base, one plain dict a step."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from imprint_trainer.data.windows import Window
from imprint_trainer.errors import AdapterNotFinite, Cancelled, CheckpointInvalid
from imprint_trainer.lora.checkpoint import (
    Checkpoint,
    CheckpointWriter,
    copy_adapter,
    restore_adapter,
    restore_training,
)
from imprint_trainer.lora.loss import loss_sum, mean_loss
from imprint_trainer.lora.schedule import HARMS, Schedule, Trained
from imprint_trainer.lora.steps import LoraTraining, Steps
from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.models.device import mixed_precision
from imprint_trainer.models.memory import PeakMemory

SHORTEST_PROBE, LONGEST_PROBE = 64, 5.0  # tokens, seconds
StepCallback = Callable[[dict[str, Any]], None]


def train(
    model: CausalLM,
    windows: Sequence[Window],
    training: LoraTraining,
    steps: Steps,
    *,
    device: torch.device,
    memory: PeakMemory,
    on_step: StepCallback = lambda _: None,
    on_window: Callable[[], None] = lambda: None,
    cancelled: Callable[[], bool] = lambda: False,
    writer: CheckpointWriter | None = None,
    resume: Checkpoint | None = None,
    again: Sequence[Sequence[Window]] = (),
    held_out: Sequence[Window] = (),
    neutral_rise: Callable[[CausalLM], float] | None = None,
    until: int | None = None,
    in_time: Callable[[float], bool] = lambda _: True,
    clock: Callable[[], float] = time.perf_counter,
) -> Trained:
    """Trains the model's trainable parameters in place.

    `again`: what the passes after the first read, in turn, where that is not `windows`.
    The loss of a step is the mean over the supervised tokens of its whole batch (training-data rule 7).
    From a checkpoint, the same steps follow to the bit as if the training had never stopped. The loss on `held_out` is
    measured before the first step and after each epoch; the profile learn ends with the adapter of the best epoch.
    `neutral_rise` measures now and then by what share the loss on neutral text has risen; a training that begins to
    harm there ends with the adapter from before.
    With `until`, it pauses after so many steps, a checkpoint is written there and at its end, and `stopped` is "paused"
    where steps are left.
    `in_time` is asked after each step, by the tokens a second of it or of all, the fewer, whether there is time for
    another one: where not, the training ends there, and `stopped` is "time".
    Raises Cancelled between two blocks of the model, AdapterNotFinite when a loss or gradient is NaN or infinite,
    CheckpointInvalid.
    """
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(
        parameters, lr=training.learning_rate, betas=training.betas, weight_decay=training.weight_decay, foreach=True
    )
    looks = neutral_rise is not None
    schedule = Schedule(windows, training, steps, holds_out=bool(held_out), looks=looks, again=again)
    best: dict[str, Tensor] = {}  # the adapter that is kept
    if resume is not None:
        replay(schedule, resume)
        restore_training(resume, model, optimizer, device)
        best = resume.best
        if schedule.keeps == (not best):
            raise CheckpointInvalid("the adapter that is kept does not fit the losses")
        if writer is not None:
            writer.resumed(schedule.done)

    def stop_if_cancelled() -> None:
        if cancelled():
            if writer is not None and schedule.stopped != "time":  # a clock decided, which no replay knows
                writer.write(model, optimizer, schedule, best)
            raise Cancelled

    def measure() -> None:
        tested, looked = schedule.held_out_due, False
        if tested:
            schedule.record_held_out(held_out_loss(model, held_out, device))
        if neutral_rise is not None and schedule.neutral_due:
            schedule.record_neutral(in_eval(model, neutral_rise))
            looked = schedule.neutral_rises[-1] <= HARMS
        best_epoch = tested and schedule.kept_epoch == len(schedule.epoch_losses)
        if schedule.stopped != "harmful" and (best_epoch or (looked and schedule.kept_epoch is None)):
            best.update(adapter_of(model))

    with interrupted(model, stop_if_cancelled):
        measure()
        first, spent, tokens_seen = schedule.done, 0.0, 0
        model.train()
        for batch in schedule.until(until):
            started, limit = clock(), schedule.total
            loss = forward_backward(model, batch.chosen, batch.supervised, device, on_window=on_window)
            norm = float(torch.nn.utils.clip_grad_norm_(parameters, training.max_grad_norm))
            if not (torch.isfinite(torch.tensor([loss, norm])).all()):
                raise AdapterNotFinite(f"the loss of step {schedule.done + 1} is not finite")
            for group in optimizer.param_groups:
                group["lr"] = batch.learning_rate
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            schedule.record(batch, loss)
            tokens, seconds = sum(len(window.input_ids) for window in batch.chosen), max(clock() - started, 1e-9)
            tokens_seen, spent = tokens_seen + tokens, spent + seconds
            measure()
            on_step(
                {
                    "step": schedule.done,
                    "steps": limit,
                    "epoch": schedule.done / steps.per_epoch,
                    "loss": schedule.losses[-1],
                    "learning_rate": batch.learning_rate,
                    "grad_norm": norm,
                    "tokens_per_second": tokens_seen / spent,
                    "supervised_tokens": batch.supervised,
                    "eta_seconds": spent / (schedule.done - first) * (limit - schedule.done),
                    "peak_memory_mb": memory.mb(),
                    "held_out_loss": schedule.held_out_losses[-1] if held_out else None,
                }
            )
            if writer is not None:
                writer.after_step(model, optimizer, schedule, best)
            if not schedule.over and not in_time(min(tokens / seconds, tokens_seen / spent)):
                schedule.end("time")
                measure()
    if until is not None and writer is not None:
        writer.write(model, optimizer, schedule, best)
    if not schedule.over:
        return schedule.trained(stopped="paused")
    if schedule.goes_back:
        copy_adapter(best, model)
    return schedule.trained()


def forward_backward(
    model: CausalLM,
    windows: Iterable[Window],
    supervised: int,
    device: torch.device,
    *,
    on_window: Callable[[], None] = lambda: None,
) -> float:
    """Adds the gradients of the loss over `supervised`, the supervised tokens of the whole step, to the parameters; the
    summed loss (nats) of the windows."""
    total = torch.zeros((), dtype=torch.float64, device=device)  # read once: a card does not wait after each window
    for window in windows:
        with mixed_precision(device, model.dtype):
            loss = loss_sum(model, window, device)
        torch.autograd.backward(loss / supervised)
        total += loss.detach()
        on_window()
    return float(total)


def measured_speed(
    model: CausalLM, window: Window, device: torch.device, *, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Tokens a second of a step, from the beginning of `window`: ever more of it until a second or all of it is read,
    so that nobody waits long for it; the first reading, which is slower, never counts. Changes neither adapter nor
    random state."""
    tokens, began, warm = SHORTEST_PROBE, clock(), False
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        model.train()
        while True:
            ids = window.input_ids[:tokens]
            started = clock()
            forward_backward(model, [Window(ids, tuple(2 * at > len(ids) for at in range(len(ids))))], len(ids), device)
            seconds = max(clock() - started, 1e-9)
            for parameter in model.parameters():
                parameter.grad = None
            if warm and (seconds >= 1 or clock() - began >= LONGEST_PROBE / 3 or tokens >= len(window.input_ids)):
                return len(ids) / seconds
            tokens, warm = tokens * (2 if seconds < 1 else 1), True


def held_out_loss(model: CausalLM, windows: Sequence[Window], device: torch.device) -> float:
    """Mean over the supervised tokens of all windows, in nats. Raises AdapterNotFinite."""
    loss = in_eval(model, lambda one: mean_loss(one, windows, device))
    if not math.isfinite(loss):
        raise AdapterNotFinite("the loss on held-out text is not finite")
    return loss


def in_eval(model: CausalLM, measure: Callable[[CausalLM], float]) -> float:
    model.eval()
    try:
        return measure(model)
    finally:
        model.train()


def adapter_of(model: CausalLM) -> dict[str, Tensor]:
    """A copy."""
    return {name: p.detach().clone() for name, p in model.named_parameters() if p.requires_grad}


def salvage(
    model: CausalLM,
    windows: Sequence[Window],
    training: LoraTraining,
    steps: Steps,
    checkpoint: Checkpoint,
    *,
    again: Sequence[Sequence[Window]] = (),
    holds_out: bool = False,
    looks: bool = False,
    stopped: str | None = "salvaged",
) -> Trained:
    """Gives the model the adapter of a checkpoint, that of its best epoch where held-out text has named one, and trains
    nothing. `stopped` None: as the training itself stopped. Raises CheckpointInvalid."""
    schedule = Schedule(windows, training, steps, holds_out=holds_out, looks=looks, again=again)
    replay(schedule, checkpoint)
    restore_adapter(checkpoint, model)
    if schedule.goes_back:
        copy_adapter(checkpoint.best, model)
    return schedule.trained(stopped)


def replay(schedule: Schedule, checkpoint: Checkpoint) -> None:
    state = checkpoint.state
    if not schedule.replay(state.loss_sums, state.held_out_losses, state.neutral_rises):
        raise CheckpointInvalid(f"no training has the losses that lead to step {state.step}")


def blocks_of(model: CausalLM) -> list[Any]:
    from transformers.modeling_layers import GradientCheckpointingLayer

    return [module for module in model.modules() if isinstance(module, GradientCheckpointingLayer)]


@contextmanager
def interrupted(model: CausalLM, stop: Callable[[], None]) -> Iterator[None]:
    """While open, `stop` is asked before the forward and the backward pass of each block, and may raise: a window of a
    large base takes many seconds."""

    def ask(_: Any, inputs: tuple[Any, ...]) -> None:
        stop()
        if inputs[0].requires_grad:
            inputs[0].register_hook(lambda _: stop())

    hooks = [block.register_forward_pre_hook(ask) for block in blocks_of(model)]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


@contextmanager
def checkpointed(model: CausalLM, wanted: bool = True) -> Iterator[None]:
    """While open and `wanted`, each block in training mode keeps its input alone and is run again in the backward pass:
    the same gradients, to the bit on a CPU."""
    blocks = blocks_of(model) if wanted else []
    for block in blocks:
        block.gradient_checkpointing = True
        block._gradient_checkpointing_func = partial(checkpoint, use_reentrant=False)
    try:
        yield
    finally:
        for block in blocks:
            del block.gradient_checkpointing, block._gradient_checkpointing_func
