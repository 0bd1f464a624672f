"""Which trials go on, and when."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imprint_trainer.jobs.halving import EARLIEST, better_half, halvings, pause_of, steps_at_most

LOSSES = st.dictionaries(st.integers(1, 64), st.floats(0, 10), min_size=1)


@pytest.mark.parametrize(
    ("trials", "steps", "shares"),
    [
        (2, 100, [0.5]),
        (3, 100, [0.5]),
        (4, 100, [0.25, 0.5]),
        (8, 100, [0.125, 0.25, 0.5]),
        (8, 16, [0.25, 0.5]),  # an eighth of 16 steps is too early
        (4, 7, []),
    ],
)
def test_halves_are_stopped_after_shares_that_double(trials: int, steps: int, shares: list[float]) -> None:
    assert halvings("halving", max_steps=[steps] * trials) == shares


def test_nothing_is_stopped_where_that_is_asked() -> None:
    assert halvings("none", max_steps=[100] * 8) == []


@given(st.lists(st.integers(1, 5000), min_size=2, max_size=64))
def test_no_trial_is_compared_before_its_fourth_step(max_steps: list[int]) -> None:
    for share in halvings("halving", max_steps=max_steps):
        assert all(EARLIEST <= pause_of(share, steps) < steps for steps in max_steps)


@given(LOSSES)
def test_no_trial_that_goes_on_is_worse_than_one_that_is_stopped(losses: dict[int, float]) -> None:
    better = better_half(losses)
    assert len(better) == (len(losses) + 1) // 2
    worse = losses.keys() - set(better)
    assert all(losses[one] <= losses[other] for one in better for other in worse)


@given(LOSSES)
def test_the_order_of_the_trials_does_not_matter(losses: dict[int, float]) -> None:
    assert better_half(losses) == better_half(dict(reversed(losses.items())))


def test_of_equal_losses_the_first_go_on() -> None:
    assert better_half({3: 1.0, 1: 1.0, 2: 1.0}) == [1, 2]


def test_the_steps_of_six_trials_are_counted_with_their_halvings() -> None:
    shares = halvings("halving", max_steps=[32] * 6)
    assert steps_at_most([32] * 6, [0] * 6, shares) == 6 * 8 + 3 * 8 + 2 * 16
    assert steps_at_most([32] * 3, [8] * 3, shares[1:]) == 3 * 8 + 2 * 16


@given(st.lists(st.integers(4, 500), min_size=2, max_size=16))
def test_no_sweep_takes_more_steps_than_all_its_trials(max_steps: list[int]) -> None:
    shares = halvings("halving", max_steps=max_steps)
    most = steps_at_most(max_steps, [0] * len(max_steps), shares)
    assert max(max_steps) <= most <= sum(max_steps)
