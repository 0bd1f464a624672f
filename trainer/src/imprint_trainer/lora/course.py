"""The bookkeeping of a training: which windows come next and at which rate, decided by the losses so far.

Replaying the losses of a checkpoint restores cursor, order, cool-down and reports: nothing else is stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from imprint_trainer.data.windows import Window

from .config import LoraTraining
from .loss import supervised_count
from .order import batches, epoch_order
from .plan import Steps
from .schedule import learning_rate
from .stopping import cool_down, should_cool


@dataclass(frozen=True)
class Trained:
    losses: tuple[float, ...]  # one a step
    epoch_losses: tuple[float, ...]
    order: tuple[tuple[int, ...], ...]  # window indices of each step
    stopped: str  # "epochs"; open-ended, why it cooled down: see stopping.py; "salvaged" at a checkpoint


@dataclass(frozen=True)
class Batch:
    windows: tuple[int, ...]  # indices
    supervised: int  # tokens
    learning_rate: float


@dataclass
class Course:
    """Give each batch of `next` to `record` with its loss before asking for another."""

    windows: Sequence[Window]
    training: LoraTraining
    steps: Steps
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
        return self.training.epochs is None

    @property
    def done(self) -> int:
        """Steps."""
        return len(self.losses)

    @property
    def total(self) -> int:
        """Steps at most, by what is known so far."""
        return self.epochs * self.steps.per_epoch

    def next(self) -> Batch | None:
        """None when the training is over."""
        if self.done >= self.total:
            return None
        epoch, position = divmod(self.done, self.steps.per_epoch)
        if position == 0:
            order = epoch_order(self.windows, seed=self.training.seed, epoch=epoch)
            self._epoch_batches = batches(order, self.steps.accumulation)
        batch = tuple(self._epoch_batches[position])
        rate = learning_rate(
            self.done,
            peak=self.training.learning_rate,
            max_steps=self.steps.maximum,
            warmup_fraction=self.training.warmup_fraction,
            open_ended=self._open_ended,
            cooling=self._cooling,
        )
        return Batch(batch, sum(supervised_count(self.windows[index]) for index in batch), rate)

    def record(self, batch: Batch, loss_sum: float) -> None:
        self.loss_sums.append(loss_sum)
        self.losses.append(loss_sum / batch.supervised)
        self.order.append(batch.windows)
        self._epoch_sum += loss_sum
        self._epoch_tokens += batch.supervised
        if self.done % self.steps.per_epoch == 0:
            self._end_epoch()

    def replay(self, loss_sums: Sequence[float]) -> bool:
        """Records the steps before a checkpoint. False when a training with these losses had ended before."""
        for loss_sum in loss_sums:
            batch = self.next()
            if batch is None:
                return False
            self.record(batch, loss_sum)
        return True

    def trained(self, stopped: str | None = None) -> Trained:
        return Trained(
            tuple(self.losses),
            tuple(self.epoch_losses),
            tuple(self.order),
            self.stopped if stopped is None else stopped,
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
