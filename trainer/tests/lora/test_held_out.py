"""A training measures what it does to held-out text, and the profile learn keeps the adapter that does best there."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F

from imprint_trainer.data.windows import Window
from imprint_trainer.errors import Cancelled
from imprint_trainer.lora.adapter import trained_tensors
from imprint_trainer.lora.schedule import NOTHING_LEFT, Schedule
from imprint_trainer.lora.steps import LEARN, Steps, plan_steps
from imprint_trainer.models.causal_lm import LoadedBase
from training import settings, train_tiny


@torch.no_grad()
def stock_loss(model: Any, windows: list[Window]) -> float:
    """Mean over supervised tokens, from whole logits and torch's cross entropy."""
    losses = []
    for window in windows:
        ids = torch.tensor([window.input_ids])
        logits = model(input_ids=ids).logits[0, :-1]
        chosen = torch.tensor(window.supervised[1:])
        losses.append(F.cross_entropy(logits, ids[0, 1:], reduction="none")[chosen])
    return float(torch.cat(losses).mean())


class Watched:
    """What a training looked like after each step."""

    def __init__(self, tested: list[Window]) -> None:
        self.tested = tested
        self.models: list[Any] = []
        self.adapters: dict[int, dict[str, torch.Tensor]] = {}
        self.losses: dict[int, float] = {}
        self.told: dict[int, float | None] = {}

    def on_step(self, progress: dict[str, Any]) -> None:
        model = self.models[-1]
        self.adapters[progress["step"]] = {key: value.clone() for key, value in trained_tensors(model).items()}
        self.losses[progress["step"]] = stock_loss(model, self.tested)
        self.told[progress["step"]] = progress["held_out_loss"]


def test_learn_stops_when_the_held_out_loss_rises_and_keeps_the_best_epoch(
    base: LoadedBase, windows: list[Window]
) -> None:
    trained, tested = windows[:2], windows[2:]
    watched = Watched(tested)
    training = settings(profile="learn", epochs=6, learning_rate=0.05)
    found, payload = train_tiny(
        base, trained, training, held_out=tested, on_model=watched.models.append, on_step=watched.on_step
    )
    before, *after = found.held_out_losses
    assert before == pytest.approx(stock_loss(base.model, tested), abs=1e-4)
    assert after == pytest.approx([watched.losses[step] for step in sorted(watched.losses) if step % 2 == 0], abs=1e-4)
    assert [watched.told[step] for step in sorted(watched.told)] == [
        loss for one, other in zip(found.held_out_losses, after, strict=False) for loss in (one, other)
    ]
    assert found.stopped == "held_out"
    assert found.kept_epoch == after.index(min(after)) + 1
    assert len(after) == found.kept_epoch + LEARN.patience
    kept = watched.adapters[2 * found.kept_epoch]
    assert all(torch.equal(payload.tensors[key], value) for key, value in kept.items())


def test_remember_measures_and_is_not_moved_by_it(base: LoadedBase, windows: list[Window]) -> None:
    training = settings(epochs=None, learning_rate=0.05)
    plain, payload = train_tiny(base, windows[:2], training)
    found, same = train_tiny(base, windows[:2], training, held_out=windows[2:])
    assert (found.losses, found.stopped, found.kept_epoch) == (plain.losses, plain.stopped, None)
    assert len(found.held_out_losses) == len(found.epoch_losses) + 1
    assert all(torch.equal(payload.tensors[key], same.tensors[key]) for key in same.tensors)


def rising(*rises: float) -> Any:
    """What neutral text says at each look."""
    left = iter(rises)
    return lambda _: next(left)


@pytest.mark.parametrize("profile", ["learn", "remember"])
def test_a_training_that_begins_to_harm_ends_with_the_adapter_from_before(
    base: LoadedBase, windows: list[Window], profile: Any
) -> None:
    watched = Watched(windows[2:])
    training = settings(profile=profile, epochs=6)  # 12 steps, a look after each second
    found, payload = train_tiny(
        base,
        windows[:2],
        training,
        neutral_rise=rising(0.01, 0.05, 0.11),
        on_model=watched.models.append,
        on_step=watched.on_step,
    )
    assert (found.stopped, len(found.losses), found.neutral_rises) == ("harmful", 6, (0.01, 0.05, 0.11))
    assert all(torch.equal(payload.tensors[key], value) for key, value in watched.adapters[4].items())


def test_a_training_that_harms_from_the_first_look_goes_on_since_nothing_better_is_there(
    base: LoadedBase, windows: list[Window]
) -> None:
    found, _ = train_tiny(base, windows[:2], settings(epochs=6), neutral_rise=rising(*[0.2] * 6))
    assert (found.stopped, len(found.losses), len(found.neutral_rises)) == ("epochs", 12, 6)


def test_looks_at_neutral_text_move_nothing(base: LoadedBase, windows: list[Window]) -> None:
    training = settings(profile="learn", epochs=3)
    plain, payload = train_tiny(base, windows[:2], training, held_out=windows[2:])
    found, same = train_tiny(
        base, windows[:2], training, held_out=windows[2:], neutral_rise=lambda model: stock_loss(model, windows) / 1e6
    )
    assert (found.losses, found.stopped, found.kept_epoch) == (plain.losses, plain.stopped, plain.kept_epoch)
    assert all(torch.equal(payload.tensors[key], same.tensors[key]) for key in same.tensors)


def test_the_epoch_that_harms_is_not_kept_though_its_held_out_loss_is_the_lowest(
    base: LoadedBase, windows: list[Window]
) -> None:
    training = settings(profile="learn", epochs=6)
    found, _ = train_tiny(base, windows[:2], training, held_out=windows[:2], neutral_rise=rising(0.0, 0.0, 0.2))
    assert (found.stopped, found.kept_epoch, len(found.epoch_losses)) == ("harmful", 2, 3)
    assert min(found.held_out_losses) == found.held_out_losses[-1]


def test_learn_ends_when_nothing_is_left_to_learn_also_without_held_out_text(
    base: LoadedBase, windows: list[Window]
) -> None:
    rate = {"learning_rate": 2e-2, "rank": 16, "alpha": 32.0, "epochs": 100}
    found, _ = train_tiny(base, windows[:1], settings(profile="learn", **rate))
    assert found.stopped == "learned"
    assert sum(found.losses[-3:]) / 3 < NOTHING_LEFT <= sum(found.losses[-4:-1]) / 3
    assert len(found.losses) < 100
    whole, _ = train_tiny(base, windows[:1], settings(**rate))
    assert (whole.stopped, len(whole.losses)) == ("epochs", 100)


@pytest.mark.parametrize(("epochs", "holds_out", "passes"), [(None, False, 3), (None, True, 4), (4, False, 4)])
def test_learn_ends_with_the_pass_that_begins_to_learn_by_heart_where_nothing_else_says_when(
    windows: list[Window], epochs: int | None, holds_out: bool, passes: int
) -> None:
    schedule = Schedule(windows, settings(profile="learn", epochs=epochs), Steps(1, 2, 4), holds_out=holds_out)
    losses = iter([1.0, 1.0, 0.7, 0.7, 0.5, 0.5, 0.4, 0.4])
    for batch in schedule.until(None):
        schedule.record(batch, next(losses) * batch.supervised)
    assert len(schedule.epoch_losses) == passes
    assert (schedule.stopped == "learned") == (passes == 3)


def test_an_epoch_that_ends_early_is_measured(base: LoadedBase, windows: list[Window]) -> None:
    schedule = Schedule(windows, settings(profile="learn", epochs=9), Steps(1, 3, 9), holds_out=True)
    schedule.record_held_out(2.0)
    for loss in (1.0, 0.05, 0.05, 0.04):
        batch = schedule.next()
        assert batch is not None
        schedule.record(batch, loss * batch.supervised)
        if schedule.held_out_due:
            schedule.record_held_out(loss)
    assert (schedule.over, schedule.stopped, schedule.total, schedule.kept_epoch) == (True, "learned", 4, 2)


def test_a_cancel_is_heard_while_held_out_text_is_read(base: LoadedBase, windows: list[Window]) -> None:
    with pytest.raises(Cancelled):
        train_tiny(base, windows, settings(), held_out=windows, cancelled=lambda: True, on_step=pytest.fail)


@pytest.mark.parametrize(("tokens", "epochs"), [(100, 4), (50_001, 2), (50_002, 1)])
def test_learn_plans_its_passes_by_the_data(tokens: int, epochs: int) -> None:
    window = Window(tuple(range(tokens)), (True,) * tokens)
    training = settings(profile="learn", epochs=None)
    assert plan_steps([window], training).max_epochs == epochs
    assert plan_steps([window], settings(profile="learn", epochs=7)).max_epochs == 7


def test_the_rate_of_learn_falls_to_zero_over_the_planned_epochs() -> None:
    windows = [Window((1, 2), (False, True))] * 20
    schedule = Schedule(windows, settings(profile="learn", epochs=None, learning_rate=0.1), Steps(1, 20, 3))
    rates = []
    while (batch := schedule.next()) is not None:
        rates.append(batch.learning_rate)
        schedule.record(batch, 1.0)
    peak = rates.index(max(rates))
    assert rates[peak] == 0.1
    assert rates[peak:] == sorted(rates[peak:], reverse=True)
    assert (len(rates), schedule.stopped) == (60, "epochs")
    assert rates[-1] < 0.001
