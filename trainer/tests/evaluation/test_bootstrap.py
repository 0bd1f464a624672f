import random
import statistics

import pytest

from imprint_trainer.evaluation.measure import Loss
from imprint_trainer.evaluation.verdict import paired
from imprint_trainer.resampling import quantile


def rows(differences: list[float], tokens: int = 10) -> tuple[list[Loss], list[Loss]]:
    """A base of 2 nats per token, and another row that differs by so many nats per token."""
    base = [Loss(2.0 * tokens, tokens, 0) for _ in differences]
    return base, [Loss((2.0 + difference) * tokens, tokens, 0) for difference in differences]


def test_the_change_is_weighted_by_tokens() -> None:
    base = [Loss(10.0, 10, 0), Loss(90.0, 90, 0)]
    change, _ = paired(base, [Loss(0.0, 10, 0), Loss(90.0, 90, 0)], ["a", "b"], seed=1)
    assert change == pytest.approx(-0.1)


def test_equal_changes_have_an_interval_without_width() -> None:
    change, interval = paired(*rows([-0.5] * 4), list("abcd"), seed=1)
    assert change == pytest.approx(-0.5)
    assert interval == (pytest.approx(-0.5), pytest.approx(-0.5))


def test_the_interval_is_that_of_the_means_distribution() -> None:
    """Of many units it is the mean plus or minus 1.96 standard errors."""
    source = random.Random(3)
    differences = [source.gauss(-0.2, 0.5) for _ in range(200)]
    change, interval = paired(*rows(differences), list(range(200)), seed=5)
    error = statistics.pstdev(differences) / 200**0.5
    assert change == pytest.approx(statistics.mean(differences))
    assert interval is not None
    assert interval[0] == pytest.approx(change - 1.96 * error, abs=0.2 * error)
    assert interval[1] == pytest.approx(change + 1.96 * error, abs=0.2 * error)


def test_two_sessions_are_drawn_whole() -> None:
    """A draw is one of (a, a), (a, b), (b, b): a quarter of them each of the ends."""
    _, interval = paired(*rows([-1.0, -1.0, 0.0, 0.0]), ["a", "a", "b", "b"], seed=2)
    assert interval == (pytest.approx(-1.0), pytest.approx(0.0))
    _, narrower = paired(*rows([-1.0, -1.0, 0.0, 0.0] * 20), ["a", "a", "b", "b"] * 20, seed=2)
    assert narrower == interval


def test_windows_are_drawn_where_there_is_one_session() -> None:
    _, interval = paired(*rows([-1.0, 0.0] * 50), ["a"] * 100, seed=2)
    assert interval is not None
    assert -0.62 < interval[0] < -0.55
    assert -0.45 < interval[1] < -0.38


def test_one_window_has_no_interval() -> None:
    assert paired(*rows([-1.0]), ["a"], seed=2) == (-1.0, None)
    assert paired(*rows([]), [], seed=2) == (0.0, None)


def test_the_same_seed_gives_the_same_interval() -> None:
    differences = [random.Random(4).gauss(0, 1) for _ in range(20)]
    first = paired(*rows(differences), list(range(20)), seed=9)
    assert paired(*rows(differences), list(range(20)), seed=9) == first


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1.0), (0.5, 2.5), (1.0, 4.0), (0.25, 1.75)])
def test_quantiles_lie_between_neighbours(share: float, expected: float) -> None:
    assert quantile([1.0, 2.0, 3.0, 4.0], share) == expected
