"""Which windows come next, at which rate, and when it is enough: decided by the windows, the settings and the losses.

Imports no torch: a preview plans with it too. Replaying a checkpoint's losses restores cursor, order and cool-down.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from imprint_trainer.data.windows import Window
from imprint_trainer.lora.steps import LEARN, LoraTraining, Steps, batches, epoch_order, even_batches

LEARNED_FRACTION = 0.3  # of the first epoch's loss: a training at the full rate past this forgets more than it learns
IMPROVEMENT = 0.02  # an epoch that improves the best loss by less than this fraction counts as none
PATIENCE = 3  # epochs without improvement
NOTHING_LEFT, LAST = 0.1, 3  # nats a token, as the mean of so many steps: `learn` has nothing left to learn
BY_HEART = 0.6  # of the first pass's loss: a pass of `learn` that finds less begins to learn the words by heart
LOOKS = 6  # at neutral text while a training of the most steps lasts
HARMS = 0.0995  # rise of its loss beyond which a training ends: beyond 0.10 its adapter would be refused (ADR 18)
COOL_DOWN = 0.8  # epochs at a falling rate, for each one before them: a lower loss for little drift
Reason = Literal["learned", "no_improvement", "token_budget"]


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
    stopped: str  # epochs, held_out, learned, harmful, time; open-ended, see should_cool; salvaged, paused
    held_out_losses: tuple[float, ...] = ()  # before the first step, and after each epoch
    kept_epoch: int | None = None  # whose adapter is kept, from 1; None: the last one's, or that of a look at `harmful`
    neutral_rises: tuple[float, ...] = ()  # of the loss on neutral text, as a share, at each look


@dataclass(frozen=True)
class WindowBatch:
    """What one optimizer step is computed from."""

    windows: tuple[int, ...]  # indices
    chosen: tuple[Window, ...]
    supervised: int  # tokens
    learning_rate: float


@dataclass
class Schedule:
    """Give each batch of `next` to `record` with its loss before asking for another, a held-out loss to
    `record_held_out` whenever one is due, and then the rise on neutral text to `record_neutral`."""

    windows: Sequence[Window]
    training: LoraTraining
    steps: Steps
    holds_out: bool = False  # a loss is measured on text that was held out
    looks: bool = False  # neutral text is read now and then
    again: Sequence[Sequence[Window]] = ()  # the windows of the passes after the first, in turn; left out, the same
    held_out_losses: list[float] = field(default_factory=list)
    neutral_rises: list[float] = field(default_factory=list)
    loss_sums: list[float] = field(default_factory=list)  # of each step, over its supervised tokens
    losses: list[float] = field(default_factory=list)
    epoch_losses: list[float] = field(default_factory=list)
    order: list[tuple[int, ...]] = field(default_factory=list)
    epochs: int = field(init=False)  # at most, by what is known so far
    stopped: str = field(init=False)
    _cooling: range = range(0)  # steps
    _end: int | None = None  # step at which it ended before its last epoch did
    _looked: int = 0  # step
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
    def _by_heart(self) -> bool:
        """Whether it can learn the words alone: not where each pass reads others."""
        return self.training.profile == "learn" and not self.again

    @property
    def done(self) -> int:
        """Steps."""
        return len(self.losses)

    @property
    def total(self) -> int:
        """Steps at most, by what is known so far."""
        return self.epochs * self.steps.per_epoch if self._end is None else self._end

    @property
    def over(self) -> bool:
        return self.done >= self.total

    @property
    def held_out_due(self) -> bool:
        """Before the first step, and after each epoch."""
        return self.holds_out and len(self.held_out_losses) <= len(self.epoch_losses)

    @property
    def neutral_due(self) -> bool:
        """Now and then, after the epochs that are measured, and at the end."""
        if not self.looks or self._looked == self.done:
            return False
        every = math.ceil(self.steps.maximum / LOOKS)
        return self.done % every == 0 or (self.holds_out and self.done % self.steps.per_epoch == 0) or self.over

    @property
    def kept_epoch(self) -> int | None:
        """The epoch of the lowest held-out loss, from 1, where the profile goes by it; not one that harms."""
        after = self.held_out_losses[1:]
        if self.stopped == "harmful" and self.done == len(after) * self.steps.per_epoch:
            after = after[:-1]
        if self.training.profile == "remember" or not after:
            return None
        return after.index(min(after)) + 1

    @property
    def keeps(self) -> bool:
        """Whether an adapter from before is kept: of the best epoch, or of the latest look that found no harm."""
        return self.kept_epoch is not None or any(rise <= HARMS for rise in self.neutral_rises)

    @property
    def goes_back(self) -> bool:
        """Whether a training that is over ends with the adapter that it kept."""
        return self.kept_epoch is not None or self.stopped == "harmful"

    def record_held_out(self, loss: float) -> None:
        self.held_out_losses.append(loss)
        epoch = len(self.epoch_losses)
        if self.kept_epoch is not None and epoch - self.kept_epoch >= LEARN.patience and not self.over:
            self.epochs, self.stopped = epoch, "held_out"

    def record_neutral(self, rise: float) -> None:
        """Ends the training where it harms now and did not at a look before."""
        if rise > HARMS and any(before <= HARMS for before in self.neutral_rises):
            self._end, self.stopped = self.done, "harmful"
        self.neutral_rises.append(rise)
        self._looked = self.done

    def end(self, reason: str) -> None:
        """After a step, in the midst of an epoch too."""
        self._end = self.done
        if self._epoch_tokens:
            self._end_epoch()
        self.stopped = reason

    def next(self) -> WindowBatch | None:
        """None when the training is over."""
        if self.over:
            return None
        epoch, position = divmod(self.done, self.steps.per_epoch)
        windows = self.again[(epoch - 1) % len(self.again)] if epoch and self.again else self.windows
        if position == 0:
            order = epoch_order(windows, seed=self.training.seed, epoch=epoch)
            self._epoch_batches = (
                even_batches(order, windows, self.steps.per_epoch)
                if self.training.accumulation is None
                else batches(order, self.steps.accumulation)
            )
        batch = tuple(self._epoch_batches[position])
        chosen = tuple(windows[index] for index in batch)
        rate = learning_rate(
            self.done,
            peak=self.training.learning_rate,
            max_steps=self.steps.maximum,
            warmup_fraction=self.training.warmup_fraction,
            open_ended=self._open_ended,
            cooling=self._cooling,
        )
        return WindowBatch(batch, chosen, sum(window.supervised_count for window in chosen), rate)

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
        last = self.losses[-LAST:]
        if self._by_heart and len(last) == LAST and sum(last) / LAST < NOTHING_LEFT:
            self._end, self.stopped = self.done, "learned"
        if self.done % self.steps.per_epoch == 0 or self._end is not None:
            self._end_epoch()

    def replay(
        self, loss_sums: Sequence[float], held_out_losses: Sequence[float] = (), neutral_rises: Sequence[float] = ()
    ) -> bool:
        """Records the steps before a checkpoint. False where no training has these losses."""
        held_out, rises = iter(held_out_losses), iter(neutral_rises)

        def measured() -> bool:
            if self.held_out_due and (loss := next(held_out, None)) is not None:
                self.record_held_out(loss)
            if self.neutral_due and not self.held_out_due and (rise := next(rises, None)) is not None:
                self.record_neutral(rise)
            return not (self.held_out_due or self.neutral_due)

        for loss_sum in loss_sums:
            if not measured() or (batch := self.next()) is None:
                return False
            self.record(batch, loss_sum)
        measured()
        return next(held_out, None) is None and next(rises, None) is None

    def trained(self, stopped: str | None = None) -> Trained:
        return Trained(
            tuple(self.losses),
            tuple(self.epoch_losses),
            tuple(self.order),
            self.stopped if stopped is None else stopped,
            tuple(self.held_out_losses),
            self.kept_epoch,
            tuple(self.neutral_rises),
        )

    def _end_epoch(self) -> None:
        self.epoch_losses.append(self._epoch_sum / self._epoch_tokens)
        self._epoch_sum, self._epoch_tokens = 0.0, 0
        epochs = len(self.epoch_losses)
        is_open = self._by_heart and self.training.epochs is None and not self.holds_out
        if is_open and self.epoch_losses[-1] < BY_HEART * self.epoch_losses[0] and not self.over:
            self._end, self.stopped = self.done, "learned"
        if not self._open_ended or self._cooling:
            return
        if reason := should_cool(self.epoch_losses, self.steps.max_epochs):
            self.stopped = reason
            self.epochs = min(self.epochs, epochs + cool_down(epochs))
            self._cooling = range(self.done, self.total)
