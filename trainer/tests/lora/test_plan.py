from hypothesis import given
from hypothesis import strategies as st

from imprint_trainer.data.windows import Window
from imprint_trainer.lora.order import batches, epoch_order
from imprint_trainer.lora.plan import OPEN_ENDED_TOKENS, STEPS_PER_EPOCH, choose_accumulation, plan_steps
from training import settings


def of_lengths(lengths: list[int]) -> list[Window]:
    return [Window(tuple(range(length)), (False,) + (True,) * (length - 1)) for length in lengths]


@given(st.integers(1, 2000))
def test_accumulation_never_costs_a_short_session_its_steps(windows: int) -> None:
    accumulation = choose_accumulation(windows)
    assert accumulation in (1, 2, 4, 8)
    assert accumulation == 1 or windows // accumulation >= STEPS_PER_EPOCH


@given(st.lists(st.integers(2, 60), min_size=1, max_size=40), st.integers(1, 100))
def test_given_epochs_are_kept_and_every_window_counts(lengths: list[int], epochs: int) -> None:
    windows = of_lengths(lengths)
    steps = plan_steps(windows, settings(epochs=epochs))
    assert steps.max_epochs == epochs
    assert (steps.per_epoch - 1) * steps.accumulation < len(windows) <= steps.per_epoch * steps.accumulation


def test_an_open_ended_training_has_a_token_budget() -> None:
    short, long = of_lengths([1000, 200]), of_lengths([1000] * 60)
    assert plan_steps(short, settings(epochs=None)).max_epochs == OPEN_ENDED_TOKENS // 1200
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
