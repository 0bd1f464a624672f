from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imprint_trainer.data.windows import Window
from imprint_trainer.lora.schedule import PATIENCE, Schedule, cool_down, learning_rate, should_cool
from imprint_trainer.lora.steps import (
    LEARN,
    LITTLE,
    OPEN_ENDED_READ,
    OPEN_ENDED_TOKENS,
    STEP_TOKENS,
    STEPS_PER_EPOCH,
    LoraTraining,
    Steps,
    batches,
    default_rate,
    epoch_order,
    even_batches,
    in_parts,
    plan_steps,
    step_tokens,
)
from training import settings

LONG = 100  # epochs


def of_lengths(lengths: list[int]) -> list[Window]:
    return [Window(tuple(range(length)), (False,) + (True,) * (length - 1)) for length in lengths]


def text_in_windows(length: int, tokens: int = 30_720) -> list[Window]:
    """The same text, of which a sixth is supervised in stretches, cut into windows of `length` tokens."""
    ids, mask = tuple(i % 300 for i in range(tokens)), tuple(i % 384 >= 320 for i in range(tokens))
    starts = range(0, tokens, length)
    return [Window(ids[start : start + length], mask[start : start + length]) for start in starts]


@pytest.mark.parametrize("profile", ["learn", "remember"])
def test_steps_do_not_depend_on_how_long_the_windows_are(profile: Any) -> None:
    training = LoraTraining(seed=0, profile=profile)
    steps = [
        plan_steps(in_parts(text_in_windows(length), training), training).maximum
        for length in (1024, 2048, 4096, 8192, 32_768)
    ]
    assert max(steps) <= 1.2 * min(steps)
    assert min(steps) >= 20


@given(st.lists(st.integers(2, 6000), min_size=1, max_size=60), st.integers(1, 200))
def test_parts_teach_each_target_once_with_what_stands_before_it(lengths: list[int], least: int) -> None:
    training = LoraTraining(seed=0)
    windows = of_lengths(lengths)
    found = in_parts(windows, training, least=least)
    assert len(found) >= min(least, sum(window.supervised_count for window in windows) // 2)
    if len(in_parts(windows, training)) >= least:
        assert found == in_parts(windows, training)
    assert sum(part.supervised_count for part in found) == sum(window.supervised_count for window in windows)
    most = step_tokens(sum(length - 1 for length in lengths), training.profile)
    assert all(0 < part.supervised_count <= 4 / 3 * most + 1 for part in found)
    assert all(part.input_ids == tuple(range(len(part.input_ids))) and part.supervised[-1] for part in found)


def test_a_window_that_one_step_learns_from_stays_whole() -> None:
    window = Window(tuple(range(683)), (False,) + (True,) * 682)
    assert in_parts([window], LoraTraining(seed=0)) == [window]


@given(st.lists(st.integers(2, 700), min_size=1, max_size=80), st.data())
def test_even_batches_keep_order_lose_nothing_and_are_never_empty(lengths: list[int], data: st.DataObject) -> None:
    windows = of_lengths(lengths)
    order = data.draw(st.permutations(range(len(windows))))
    count = data.draw(st.integers(1, len(windows)))
    groups = even_batches(order, windows, count)
    assert [index for group in groups for index in group] == list(order)
    assert len(groups) == count
    assert all(groups)


def test_even_batches_have_about_as_many_supervised_tokens() -> None:
    windows = of_lengths([101, 301, 201] * 20)
    groups = even_batches(range(60), windows, 20)
    assert {sum(windows[index].supervised_count for index in group) for group in groups} <= {500, 600, 700}


@given(st.integers(1, 10**6))
def test_a_step_learns_from_more_tokens_only_where_enough_steps_are_left(supervised: int) -> None:
    tokens = step_tokens(supervised, "remember")
    assert tokens in (STEP_TOKENS, 2 * STEP_TOKENS, 4 * STEP_TOKENS, 8 * STEP_TOKENS)
    assert tokens == STEP_TOKENS or supervised // tokens >= STEPS_PER_EPOCH
    assert step_tokens(supervised, "learn") == (STEP_TOKENS // 2 if STEP_TOKENS <= supervised < LITTLE else tokens)


def test_learn_reads_little_text_in_twice_as_many_steps_at_half_the_rate_and_as_often() -> None:
    windows = of_lengths([257] * 16)
    twice, once = (plan_steps(windows, LoraTraining(seed=0, profile="learn", accumulation=some)) for some in (None, 2))
    assert (twice.per_epoch, twice.max_epochs) == (16, 2) == (2 * once.per_epoch, once.max_epochs)
    assert default_rate(576, step=step_tokens(16 * 256, "learn")) == default_rate(576) / 2
    assert default_rate(576, step=step_tokens(LITTLE, "learn")) == default_rate(576)


@given(st.lists(st.integers(2, 60), min_size=1, max_size=40), st.integers(1, 100))
def test_given_epochs_are_kept_and_every_window_counts(lengths: list[int], epochs: int) -> None:
    windows = of_lengths(lengths)
    steps = plan_steps(windows, settings(epochs=epochs, accumulation=3))
    assert steps.max_epochs == epochs
    assert (steps.per_epoch - 1) * steps.accumulation < len(windows) <= steps.per_epoch * steps.accumulation


def test_an_open_ended_training_has_a_token_budget() -> None:
    short, long = of_lengths([1000, 200]), of_lengths([1000] * 60)
    assert plan_steps(short, settings(epochs=None)).max_epochs == OPEN_ENDED_TOKENS // 1198
    sparse = [Window(tuple(range(20_000)), (False,) * 19_999 + (True,))]
    assert plan_steps(sparse, settings(epochs=None)).max_epochs == OPEN_ENDED_READ // 20_000
    assert plan_steps(long, settings(epochs=None)).max_epochs == 3


@given(st.lists(st.integers(2, 50), min_size=1, max_size=30), st.integers(0, 2**32 - 1), st.integers(0, 5))
def test_an_epoch_sees_every_window_once_and_the_first_begins_with_the_longest(
    lengths: list[int], seed: int, epoch: int
) -> None:
    windows = of_lengths(lengths)
    order = epoch_order(windows, seed=seed, epoch=epoch)
    assert sorted(order) == list(range(len(windows)))
    assert order == epoch_order(windows, seed=seed, epoch=epoch)
    if epoch == 0:
        assert len(windows[order[0]].input_ids) == max(lengths)


@given(st.lists(st.integers(), max_size=30), st.integers(1, 8))
def test_batches_keep_order_and_lose_nothing(order: list[int], size: int) -> None:
    groups = batches(order, size)
    assert [index for group in groups for index in group] == order
    assert all(len(group) == size for group in groups[:-1])


@given(st.integers(1, 500), st.floats(0, 0.5), st.booleans())
def test_no_step_is_wasted_and_none_exceeds_the_peak(max_steps: int, warmup: float, open_ended: bool) -> None:
    rates = [
        learning_rate(step, peak=0.1, max_steps=max_steps, warmup_fraction=warmup, open_ended=open_ended)
        for step in range(max_steps)
    ]
    assert all(0 < rate <= 0.1 for rate in rates)


def test_the_rate_warms_up_and_then_falls_to_nearly_zero_or_stays() -> None:
    def at(step: int, open_ended: bool) -> float:
        return learning_rate(step, peak=1.0, max_steps=100, warmup_fraction=0.1, open_ended=open_ended)

    assert [at(step, False) for step in (0, 4, 9)] == pytest.approx([0.1, 0.5, 1.0])
    assert at(55, False) == pytest.approx(0.5)
    assert at(99, False) < 1e-3
    assert at(99, True) == 1.0


def test_an_open_ended_rate_falls_in_a_line_while_it_cools() -> None:
    cooling = range(10, 14)
    rates = [
        learning_rate(step, peak=1.0, max_steps=100, warmup_fraction=0, open_ended=True, cooling=cooling)
        for step in range(8, 14)
    ]
    assert rates == pytest.approx([1, 1, 0.8, 0.6, 0.4, 0.2])


def test_the_rate_stays_while_the_loss_falls() -> None:
    assert all(should_cool([2.0, 1.8, 1.5, 1.2, 1.0][:count], LONG) is None for count in range(1, 6))


def test_the_rate_falls_when_the_session_is_learned() -> None:
    assert should_cool([2.0, 1.0, 0.3], LONG) == "learned"


def test_the_rate_falls_after_epochs_without_improvement() -> None:
    history = [2.0, 1.5] + [1.49] * PATIENCE
    assert should_cool(history[:-1], LONG) is None
    assert should_cool(history, LONG) == "no_improvement"


@given(st.integers(1, 60))
def test_the_cool_down_fits_into_the_budget(max_epochs: int) -> None:
    falling = [0.976**epoch for epoch in range(max_epochs)]
    reasons = [should_cool(falling[: epoch + 1], max_epochs) for epoch in range(max_epochs)]
    first = next(epoch for epoch, reason in enumerate(reasons, start=1) if reason is not None)
    assert first <= max_epochs <= first + cool_down(first)


@given(st.lists(st.floats(0.01, 20), min_size=1, max_size=30))
def test_cooling_down_depends_on_the_losses_alone(history: list[float]) -> None:
    assert should_cool(history, LONG) == should_cool(list(history), LONG)
    if len(history) <= PATIENCE and history[-1] > 0.3 * history[0]:
        assert should_cool(history, LONG) is None


@pytest.mark.parametrize(
    ("tokens", "steps", "passes"),
    [(300, 1, 4), (1_000, 3, 3), (1_500, 4, 2), (50_000, 24, 2), (50_001, 24, 1), (66_000, 2, 1), (6_000_000, 1465, 1)],
)
def test_few_windows_are_read_until_there_are_enough_steps_and_much_text_once(
    tokens: int, steps: int, passes: int
) -> None:
    assert LEARN.passes(tokens, steps, False) == passes


def test_passes_that_read_other_names_are_more() -> None:
    assert [LEARN.passes(4_000, steps, True) for steps in (1, 3, 7, 11, 12, 30)] == [8, 8, 4, 3, 2, 2]
    assert LEARN.passes(60_000, 24, True) == 1


def test_wider_bases_are_trained_at_a_lower_rate() -> None:
    assert default_rate(64) == default_rate(576) == 1e-3
    assert default_rate(4 * 576) == pytest.approx(5e-4)
    assert 3e-4 < default_rate(5120) < default_rate(4096) < 4e-4


def test_passes_after_the_first_read_what_is_given_for_them_in_turn() -> None:
    first, second, third = of_lengths([9, 8, 7]), of_lengths([12, 11, 10, 13]), of_lengths([6, 5])
    training = LoraTraining(seed=0, profile="learn", epochs=4)
    schedule = Schedule(first, training, Steps(1, 2, 4), again=[second, third])
    read: list[list[Window]] = []
    for batch in schedule.until(None):
        assert batch.supervised == sum(window.supervised_count for window in batch.chosen)
        if schedule.done % 2 == 0:
            read.append([])
        read[-1] += batch.chosen
        schedule.record(batch, 9.0 * batch.supervised)
    assert [sorted(map(len_of, one)) for one in read] == [[7, 8, 9], [10, 11, 12, 13], [5, 6], [10, 11, 12, 13]]


def len_of(window: Window) -> int:
    return len(window.input_ids)
