"""A training that goes on from a checkpoint is the one that never stopped, to the bit."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from imprint_trainer.data.windows import Window
from imprint_trainer.errors import Cancelled
from imprint_trainer.lora.adapter import Payload, fresh_adapter, resolve_targets
from imprint_trainer.lora.checkpoint import ADAPTER, CheckpointWriter, read_checkpoint
from imprint_trainer.lora.schedule import Schedule, Trained
from imprint_trainer.lora.steps import LoraTraining, Steps, plan_steps
from imprint_trainer.lora.train import adapter_of, salvage
from imprint_trainer.models.causal_lm import LoadedBase
from training import settings, train_tiny

IDENTITY = {"session s1": "a"}
NEVER = 1e9  # seconds


def writer(
    folder: Path, seconds: float = NEVER, written: Callable[[int], None] = lambda _: None, **changes: Any
) -> CheckpointWriter:
    folder.mkdir(exist_ok=True)
    device = torch.device("cpu")
    return CheckpointWriter(
        folder, seconds, device=device, identity=IDENTITY, made_with={}, on_written=written, **changes
    )


def cancelled_at(
    base: LoadedBase, windows: Sequence[Window], training: LoraTraining, folder: Path, step: int, **options: Any
) -> None:
    """Leaves the checkpoint of a training that was cancelled in the step after `step`."""
    done: list[object] = []
    with pytest.raises(Cancelled):
        train_tiny(
            base,
            windows,
            training,
            on_step=done.append,
            cancelled=lambda: len(done) >= step,
            writer=writer(folder),
            **options,
        )


def resumed(
    base: LoadedBase, windows: Sequence[Window], training: LoraTraining, folder: Path, **options: Any
) -> tuple[Trained, Payload]:
    return train_tiny(base, windows, training, writer=writer(folder), resume=read_checkpoint(folder), **options)


def assert_same(ours: tuple[Trained, Payload], theirs: tuple[Trained, Payload]) -> None:
    assert ours[0] == theirs[0]
    assert ours[1].config == theirs[1].config
    assert all(torch.equal(ours[1].tensors[key], theirs[1].tensors[key]) for key in theirs[1].tensors)


def test_resumed_at_every_step_with_epochs_given(base: LoadedBase, windows: list[Window], tmp_path: Path) -> None:
    training = settings(epochs=3, accumulation=2)
    plain = train_tiny(base, windows, training)
    assert len(plain[0].losses) == 6
    for step in range(1, 6):
        folder = tmp_path / str(step)
        cancelled_at(base, windows, training, folder, step)
        assert_same(resumed(base, windows, training, folder), plain)


def test_resumed_before_at_and_in_the_cool_down_of_an_open_end(
    nf4_base: LoadedBase, windows: list[Window], tmp_path: Path
) -> None:
    training = settings(epochs=None, rank=16, alpha=32.0, weight_decay=0.01)
    plain = train_tiny(nf4_base, windows[:2], training)
    steps, cooled = len(plain[0].losses), _cooling_from(windows[:2], training, plain[0])
    assert plain[0].stopped == "learned"
    assert 2 < cooled < steps - 2
    for step in (1, cooled - 1, cooled, cooled + 1, steps - 1):
        folder = tmp_path / str(step)
        cancelled_at(nf4_base, windows[:2], training, folder, step)
        assert_same(resumed(nf4_base, windows[:2], training, folder), plain)


def test_resumed_at_every_step_of_a_training_that_keeps_the_best_held_out_epoch(
    base: LoadedBase, windows: list[Window], tmp_path: Path
) -> None:
    """The adapter that is kept is of an epoch before the last, also where that is over at the checkpoint."""
    training = settings(profile="learn", epochs=6, learning_rate=0.05)
    trained, tested = windows[:2], windows[2:]
    plain = train_tiny(base, trained, training, held_out=tested)
    epochs = len(plain[0].epoch_losses)
    assert plain[0].stopped == "held_out"
    assert plain[0].kept_epoch == epochs - 1 < 5
    for step in range(1, 2 * epochs):
        folder = tmp_path / str(step)
        cancelled_at(base, trained, training, folder, step, held_out=tested)
        assert_same(resumed(base, trained, training, folder, held_out=tested), plain)


@pytest.mark.parametrize("harmful_from", [4, 99])
def test_resumed_at_every_step_of_a_training_that_looks_at_neutral_text(
    base: LoadedBase, windows: list[Window], tmp_path: Path, harmful_from: int
) -> None:
    training = settings(profile="learn", epochs=4)

    def rise(model: Any) -> float:
        """Of the adapter alone: that of a resumed training is the same."""
        return sum(float(p.abs().sum()) for name, p in model.named_parameters() if "lora_B" in name) / 1e6

    plain = train_tiny(base, windows[:2], training, neutral_rise=rise)
    limit = plain[0].neutral_rises[harmful_from - 1] if harmful_from <= len(plain[0].neutral_rises) else 1.0

    def scaled(model: Any) -> float:
        return rise(model) / limit * 0.0999

    plain = train_tiny(base, windows[:2], training, neutral_rise=scaled)
    steps = len(plain[0].losses)
    assert plain[0].stopped == ("harmful" if harmful_from == 4 else "epochs")
    for step in range(1, steps):
        folder = tmp_path / str(step)
        cancelled_at(base, windows[:2], training, folder, step, neutral_rise=scaled)
        assert_same(resumed(base, windows[:2], training, folder, neutral_rise=scaled), plain)


def _cooling_from(windows: Sequence[Window], training: LoraTraining, trained: Trained) -> int:
    """The first step at a falling rate."""
    schedule, rates = Schedule(windows, training, plan_steps(windows, training)), []
    for loss in trained.losses:
        batch = schedule.next()
        assert batch is not None
        rates.append(batch.learning_rate)
        schedule.record(batch, loss * batch.supervised)
    peak = rates.index(max(rates))
    return next(step for step in range(peak, len(rates)) if rates[step] < rates[peak])


def test_resumed_twice_and_cancelled_between_micro_batches(
    base: LoadedBase, windows: list[Window], tmp_path: Path
) -> None:
    training = settings(epochs=4, accumulation=3)
    plain = train_tiny(base, windows, training)
    cancelled_at(base, windows, training, tmp_path / "c", 1)
    cancelled_at(base, windows, training, tmp_path / "c", 2, resume=read_checkpoint(tmp_path / "c"))
    assert read_checkpoint(tmp_path / "c").state.step == 3
    assert_same(resumed(base, windows, training, tmp_path / "c"), plain)


def test_random_numbers_go_on_where_they_stopped(base: LoadedBase, windows: list[Window], tmp_path: Path) -> None:
    """A base with dropout draws some in every step."""

    def set_dropout(model: torch.nn.Module, share: float) -> None:
        for module in model.modules():
            if type(module).__name__ == "LlamaAttention":
                module.attention_dropout = share  # type: ignore[assignment]

    with_dropout, without_dropout = (partial(set_dropout, share=share) for share in (0.5, 0.0))

    training = settings(epochs=4)
    plain = train_tiny(base, windows, training, on_model=with_dropout)
    assert plain[0].losses != train_tiny(base, windows, training, on_model=without_dropout)[0].losses
    cancelled_at(base, windows, training, tmp_path / "c", 5, on_model=with_dropout)
    torch.manual_seed(999)
    checkpoint = read_checkpoint(tmp_path / "c")
    assert_same(train_tiny(base, windows, training, on_model=with_dropout, resume=checkpoint), plain)
    without_dropout(base.model)


def test_writing_checkpoints_changes_no_bit(nf4_base: LoadedBase, windows: list[Window], tmp_path: Path) -> None:
    written: list[int] = []
    plain = train_tiny(nf4_base, windows, settings())
    assert_same(train_tiny(nf4_base, windows, settings(), writer=writer(tmp_path / "c", 0, written.append)), plain)
    assert written[0] == 1
    assert len(list((tmp_path / "c").iterdir())) == 2


def test_the_steps_after_a_resume_go_on_counting(base: LoadedBase, windows: list[Window], tmp_path: Path) -> None:
    training = settings(epochs=2)
    cancelled_at(base, windows, training, tmp_path / "c", 4)
    progress: list[dict[str, Any]] = []
    written: list[int] = []
    train_tiny(
        base,
        windows,
        training,
        on_step=progress.append,
        writer=writer(tmp_path / "c", written=written.append),
        resume=read_checkpoint(tmp_path / "c"),
    )
    assert [(one["step"], one["steps"]) for one in progress] == [(5, 6), (6, 6)]
    assert progress[-1]["eta_seconds"] == 0
    assert written == [4]


@given(
    losses=st.lists(st.floats(0.01, 8, allow_nan=False), min_size=40, max_size=40),
    count=st.integers(1, 5),
    accumulation=st.integers(1, 3),
    epochs=st.one_of(st.none(), st.integers(1, 6)),
    data=st.data(),
)
def test_a_replayed_schedule_is_the_one_that_went_on(
    losses: list[float], count: int, accumulation: int, epochs: int | None, data: st.DataObject
) -> None:
    windows = of_lengths(3, count)
    training = settings(epochs=epochs, accumulation=accumulation)
    steps = Steps(accumulation, -(-count // accumulation), epochs or 8)

    def go(schedule: Schedule, sums: Sequence[float]) -> Schedule:
        for total in sums:
            if (batch := schedule.next()) is not None:
                schedule.record(batch, total)
        return schedule

    passes = data.draw(st.sampled_from([(), [of_lengths(7, count)], [of_lengths(5, count + 1), of_lengths(9, count)]]))
    whole = go(Schedule(windows, training, steps, again=passes), losses)
    stop = data.draw(st.integers(1, whole.done))
    again = Schedule(windows, training, steps, again=passes)
    assert again.replay(whole.loss_sums[:stop])
    assert go(again, losses[stop:]) == whole
    if whole.next() is None:
        assert not Schedule(windows, training, steps, again=passes).replay([*whole.loss_sums, 1.0])


def of_lengths(least: int, count: int) -> list[Window]:
    return [Window(tuple(range(n + least)), (False, *(True,) * (n + least - 1))) for n in range(count)]


def test_a_salvaged_adapter_is_that_of_the_best_held_out_epoch(
    base: LoadedBase, windows: list[Window], tmp_path: Path
) -> None:
    trained, tested = windows[:2], windows[2:]
    training = settings(profile="learn", epochs=4)
    cancelled_at(base, trained, training, tmp_path, 3, held_out=tested)
    checkpoint = read_checkpoint(tmp_path)
    with fresh_adapter(
        base, rank=training.rank, alpha=training.alpha, targets=resolve_targets(base.model, None), seed=training.seed
    ) as model:
        salvaged = salvage(model, trained, training, plan_steps(trained, training), checkpoint, holds_out=True)
        adapter = adapter_of(model)
    assert (salvaged.stopped, salvaged.kept_epoch, len(salvaged.losses)) == ("salvaged", 1, 3)
    latest = checkpoint.named(ADAPTER)
    assert all(torch.equal(adapter[name], tensor) for name, tensor in checkpoint.best.items())
    assert any(not torch.equal(adapter[name], tensor) for name, tensor in latest.items())
