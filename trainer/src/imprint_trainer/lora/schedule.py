"""Which windows come next, at which rate, and when it is enough: decided by the windows, the settings and the losses.

Imports no torch: a preview plans with it too. Replaying a checkpoint's losses restores cursor, order and cool-down.
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from imprint_trainer.data.windows import Window
from imprint_trainer.protocol import Profile

# Chosen by docs/results.md for the default model; wider bases take less (docs/adr/0022).
RATE, WIDTH = 1e-3, 576
STEP_TOKENS = 512  # supervised ones that a step learns from: steps do not depend on how long windows are (ADR 45)
STEPS_PER_EPOCH = 16  # more tokens make one step only where an epoch still has this many steps
MOST_TIMES = 8  # as many tokens
OVER = 1 / 3  # of a step's tokens, that a window may have more before it is learned in parts
OPEN_ENDED_TOKENS, OPEN_ENDED_READ = 24_000, 100_000  # supervised and read ones at most of an open-ended training
OPEN_ENDED_MIN_EPOCHS, OPEN_ENDED_MAX_EPOCHS = 3, 40
LEARNED_FRACTION = 0.3  # of the first epoch's loss: a training at the full rate past this forgets more than it learns
IMPROVEMENT = 0.02  # an epoch that improves the best loss by less than this fraction counts as none
PATIENCE = 3  # epochs without improvement
COOL_DOWN = 0.8  # epochs at a falling rate, for each one before them: a lower loss for little drift
Reason = Literal["learned", "no_improvement", "token_budget"]


@dataclass(frozen=True)
class Learn:
    tokens: int = 100_000  # supervised ones: little text is read several times, much of it once
    usual: int = 2  # passes
    steps: int = 8  # at least, where few windows can be read up to `most` times
    most: int = 4
    patience: int = 1  # epochs without a lower held-out loss

    def passes(self, tokens: int, steps: int) -> int:
        """Epochs over so many supervised tokens, which take so many optimizer steps."""
        enough = min(math.ceil(self.steps / max(steps, 1)), self.most)
        return min(max(self.tokens // max(tokens, 1), 1), max(self.usual, enough))


LEARN = Learn()


def default_rate(width: int) -> float:
    """Peak learning rate for a base model with hidden states of `width`."""
    return RATE * math.sqrt(WIDTH / max(width, WIDTH))


class LoraTraining(BaseModel):
    """Hyper-parameters of one adapter; every field is recorded in training.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    profile: Profile = "remember"
    seed: int = Field(ge=0, le=2**32 - 1)
    epochs: int | None = Field(default=None, ge=1, le=100)  # None: see plan_steps
    rank: int = Field(default=16, ge=1, le=256)
    alpha: float = Field(default=32.0, gt=0)
    learning_rate: float = Field(default=RATE, gt=0, le=0.1)
    target_modules: tuple[str, ...] | None = None  # None: every linear layer but the output head
    max_length: int = Field(default=1024, ge=64)
    quantization: Literal["nf4", "none"] = "nf4"
    warmup_fraction: float = Field(default=0.06, ge=0, lt=1)
    weight_decay: float = Field(default=0.0, ge=0)
    max_grad_norm: float = Field(default=1.0, gt=0)
    betas: tuple[float, float] = (0.9, 0.999)
    accumulation: int | None = Field(default=None, ge=1)  # windows a step; None: by their supervised tokens

    @property
    def open_ended(self) -> bool:
        """Trained until the loss stops improving, or a budget ends."""
        return self.epochs is None and self.profile == "remember"


@dataclass(frozen=True)
class Steps:
    accumulation: int  # windows, or parts of them, that an optimizer step sums: on average
    per_epoch: int
    max_epochs: int
    tokens: int = 0  # read in an epoch

    @property
    def maximum(self) -> int:
        return self.per_epoch * self.max_epochs


def supervised_tokens(windows: Sequence[Window]) -> int:
    return sum(window.supervised_count for window in windows)


def step_tokens(supervised: int) -> int:
    """Supervised tokens that one step learns from, of so many in an epoch: few at first, so that there are enough
    steps; up to eight times as many of much text."""
    tokens = STEP_TOKENS
    while tokens < MOST_TIMES * STEP_TOKENS and supervised // (2 * tokens) >= STEPS_PER_EPOCH:
        tokens *= 2
    return tokens


def in_parts(windows: Sequence[Window], training: LoraTraining) -> list[Window]:
    """What the steps read: windows, and of those that teach more than one step learns from, parts. A part is the window
    up to the last of its share of the targets, with all that the window holds before them as context."""
    if training.accumulation is not None:
        return list(windows)
    most = step_tokens(supervised_tokens(windows))
    return [part for window in windows for part in parts(window, math.ceil(window.supervised_count / most - OVER))]


def parts(window: Window, count: int) -> list[Window]:
    if count <= 1:
        return [window]
    targets = [index for index, supervised in enumerate(window.supervised) if supervised and index > 0]
    found = []
    for number in range(count):
        share = targets[len(targets) * number // count : len(targets) * (number + 1) // count]
        chosen, end = frozenset(share), share[-1] + 1
        found.append(Window(window.input_ids[:end], tuple(index in chosen for index in range(end))))
    return found


def plan_steps(windows: Sequence[Window], training: LoraTraining) -> Steps:
    """Of what `in_parts` gives. With `accumulation`, the last, partial batch of an epoch is a step too."""
    supervised = supervised_tokens(windows)
    if training.accumulation is not None:
        per_epoch = math.ceil(len(windows) / training.accumulation)
    else:
        per_epoch = min(max(1, round(supervised / step_tokens(supervised))), len(windows))
    tokens, epochs = sum(len(window.input_ids) for window in windows), training.epochs
    if training.open_ended:
        enough = min(OPEN_ENDED_TOKENS // max(1, supervised), OPEN_ENDED_READ // tokens)
        epochs = min(OPEN_ENDED_MAX_EPOCHS, max(OPEN_ENDED_MIN_EPOCHS, enough))
    accumulation = training.accumulation or max(1, round(len(windows) / per_epoch))
    return Steps(accumulation, per_epoch, LEARN.passes(supervised, per_epoch) if epochs is None else epochs, tokens)


def epoch_order(windows: Sequence[Window], *, seed: int, epoch: int) -> list[int]:
    """A seeded shuffle; the first epoch begins with the longest window, so that running out of memory shows at once."""
    order = list(range(len(windows)))
    random.Random(f"{seed}:{epoch}").shuffle(order)
    if epoch == 0:
        longest = max(order, key=lambda index: (len(windows[index].input_ids), -index))
        order.remove(longest)
        order.insert(0, longest)
    return order


def batches(order: Sequence[int], size: int) -> list[list[int]]:
    """Consecutive groups of `size`; the last may be smaller."""
    return [list(order[start : start + size]) for start in range(0, len(order), size)]


def even_batches(order: Sequence[int], windows: Sequence[Window], count: int) -> list[list[int]]:
    """`count` consecutive groups, none empty, with about as many supervised tokens each."""
    total, taken = sum(windows[index].supervised_count for index in order), 0
    found: list[list[int]] = [[]]
    for position, index in enumerate(order):
        tokens, left = windows[index].supervised_count, count - len(found)
        full = taken + tokens / 2 >= total * len(found) / count  # more of it would be in the next group
        if found[-1] and left and (full or len(order) - position <= left):
            found.append([])
        found[-1].append(index)
        taken += tokens
    return found


def learning_rate(
    step: int, *, peak: float, max_steps: int, warmup_fraction: float, open_ended: bool, cooling: range = range(0)
) -> float:
    """Linear warm-up, then cosine to zero; open-ended, constant until the steps of `cooling`, where it falls in a line.

    `step` counts from 0.
    """
    if step in cooling:
        return peak * (cooling.stop - step) / (len(cooling) + 1)
    warmup = max(1, math.ceil(warmup_fraction * max_steps)) if warmup_fraction > 0 else 0
    if step < warmup:
        return peak * ((step + 1) / warmup)
    if open_ended:
        return peak
    progress = (step - warmup) / max(1, max_steps - warmup)
    return peak * 0.5 * (1.0 + math.cos(math.pi * progress))


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


@dataclass(frozen=True)
class Trained:
    losses: tuple[float, ...]  # one a step
    epoch_losses: tuple[float, ...]
    order: tuple[tuple[int, ...], ...]  # window indices of each step
    stopped: str  # "epochs"; "held_out"; open-ended, see should_cool; "salvaged" or "paused" at a checkpoint
    held_out_losses: tuple[float, ...] = ()  # before the first step, and after each epoch
    kept_epoch: int | None = None  # whose adapter is kept, from 1; None: the last one's


@dataclass(frozen=True)
class WindowBatch:
    """What one optimizer step is computed from."""

    windows: tuple[int, ...]  # indices
    supervised: int  # tokens
    learning_rate: float


@dataclass
class Schedule:
    """Give each batch of `next` to `record` with its loss before asking for another, and a held-out loss to
    `record_held_out` whenever one is due."""

    windows: Sequence[Window]
    training: LoraTraining
    steps: Steps
    holds_out: bool = False  # a loss is measured on text that was held out
    held_out_losses: list[float] = field(default_factory=list)
    loss_sums: list[float] = field(default_factory=list)  # of each step, over its supervised tokens
    losses: list[float] = field(default_factory=list)
    epoch_losses: list[float] = field(default_factory=list)
    order: list[tuple[int, ...]] = field(default_factory=list)
    epochs: int = field(init=False)  # at most, by what is known so far
    stopped: str = field(init=False)
    _cooling: range = range(0)  # steps
    _epoch_batches: list[list[int]] = field(default_factory=list)
    _epoch_sum: float = 0.0
    _epoch_tokens: int = 0

    def __post_init__(self) -> None:
        self.epochs = self.steps.max_epochs
        self.stopped = "token_budget" if self._open_ended else "epochs"

    @property
    def _open_ended(self) -> bool:
        return self.training.open_ended

    @property
    def done(self) -> int:
        """Steps."""
        return len(self.losses)

    @property
    def total(self) -> int:
        """Steps at most, by what is known so far."""
        return self.epochs * self.steps.per_epoch

    @property
    def over(self) -> bool:
        return self.done >= self.total

    @property
    def held_out_due(self) -> bool:
        """Before the first step, and after each epoch."""
        return self.holds_out and len(self.held_out_losses) <= len(self.epoch_losses)

    @property
    def kept_epoch(self) -> int | None:
        """The epoch of the lowest held-out loss, from 1, where the profile goes by it."""
        after = self.held_out_losses[1:]
        if self.training.profile == "remember" or not after:
            return None
        return after.index(min(after)) + 1

    def record_held_out(self, loss: float) -> None:
        self.held_out_losses.append(loss)
        epoch = len(self.epoch_losses)
        if self.kept_epoch is not None and epoch - self.kept_epoch >= LEARN.patience and epoch < self.epochs:
            self.epochs, self.stopped = epoch, "held_out"

    def next(self) -> WindowBatch | None:
        """None when the training is over."""
        if self.over:
            return None
        epoch, position = divmod(self.done, self.steps.per_epoch)
        if position == 0:
            order = epoch_order(self.windows, seed=self.training.seed, epoch=epoch)
            self._epoch_batches = (
                even_batches(order, self.windows, self.steps.per_epoch)
                if self.training.accumulation is None
                else batches(order, self.steps.accumulation)
            )
        batch = tuple(self._epoch_batches[position])
        rate = learning_rate(
            self.done,
            peak=self.training.learning_rate,
            max_steps=self.steps.maximum,
            warmup_fraction=self.training.warmup_fraction,
            open_ended=self._open_ended,
            cooling=self._cooling,
        )
        return WindowBatch(batch, sum(self.windows[index].supervised_count for index in batch), rate)

    def until(self, step: int | None) -> Iterator[WindowBatch]:
        """Those of `next`, to this step; None: to the end."""
        while (step is None or self.done < step) and (batch := self.next()) is not None:
            yield batch

    def record(self, batch: WindowBatch, loss_sum: float) -> None:
        self.loss_sums.append(loss_sum)
        self.losses.append(loss_sum / batch.supervised)
        self.order.append(batch.windows)
        self._epoch_sum += loss_sum
        self._epoch_tokens += batch.supervised
        if self.done % self.steps.per_epoch == 0:
            self._end_epoch()

    def replay(self, loss_sums: Sequence[float], held_out_losses: Sequence[float] = ()) -> bool:
        """Records the steps before a checkpoint. False where no training has these losses."""
        held_out = iter(held_out_losses)
        for loss_sum in loss_sums:
            if self.held_out_due and (loss := next(held_out, None)) is not None:
                self.record_held_out(loss)
            batch = self.next()
            if batch is None or self.held_out_due:
                return False
            self.record(batch, loss_sum)
        if self.held_out_due and (loss := next(held_out, None)) is not None:
            self.record_held_out(loss)
        return next(held_out, None) is None

    def trained(self, stopped: str | None = None) -> Trained:
        return Trained(
            tuple(self.losses),
            tuple(self.epoch_losses),
            tuple(self.order),
            self.stopped if stopped is None else stopped,
            tuple(self.held_out_losses),
            self.kept_epoch,
        )

    def _end_epoch(self) -> None:
        self.epoch_losses.append(self._epoch_sum / self._epoch_tokens)
        self._epoch_sum, self._epoch_tokens = 0.0, 0
        epochs = len(self.epoch_losses)
        if not self._open_ended or self._cooling:
            return
        if reason := should_cool(self.epoch_losses, self.steps.max_epochs):
            self.stopped = reason
            self.epochs = min(self.epochs, epochs + cool_down(epochs))
            self._cooling = range(self.done, self.total)
