import random
import statistics
from fractions import Fraction
from itertools import product

import pytest

from imprint_trainer.evaluation.measure import Loss
from imprint_trainer.evaluation.verdict import forgotten, p_value, paired, sentence_of, verdict_of
from imprint_trainer.resampling import Interval, quantile


def answers(both: int, lost: int, gained: int) -> tuple[list[bool], list[bool]]:
    return [True] * (both + lost) + [False] * gained, [True] * both + [False] * lost + [True] * gained


def test_published_values() -> None:
    """R: binom.test(2, 12)$p.value, binom.test(0, 5)$p.value."""
    assert p_value(*answers(7, 2, 10)) == pytest.approx(0.03857421875)
    assert p_value(*answers(0, 0, 5)) == pytest.approx(0.0625)


@pytest.mark.parametrize("count", range(8))
def test_it_is_the_share_of_coin_tosses_that_are_as_uneven(count: int) -> None:
    tosses = list(product((0, 1), repeat=count))
    for lost in range(count + 1):
        uneven = sum(abs(2 * sum(toss) - count) >= abs(2 * lost - count) for toss in tosses)
        expected = float(Fraction(uneven, len(tosses)))
        assert p_value(*answers(3, lost, count - lost)) == pytest.approx(expected)


def test_equal_answers_say_nothing() -> None:
    assert p_value([True, False], [True, False]) == 1.0


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


@pytest.mark.parametrize(
    ("share", "interval", "rise", "verdict"),
    [
        (-0.05, (-0.2, -0.01), 0.0, "helps"),
        (-0.05, (-0.2, -0.01), 0.05, "helps"),
        (-0.05, (-0.2, -0.01), 0.051, "no_evidence"),
        (-0.05, (-0.2, -0.01), 0.10, "no_evidence"),
        (-0.05, (-0.2, -0.01), 0.101, "harms"),
        (-0.05, (-0.2, 0.0), 0.0, "no_evidence"),
        (0.05, (0.0, 0.2), 0.0, "no_evidence"),
        (0.05, (0.01, 0.2), -0.1, "harms"),
        (-0.05, None, 0.0, "no_evidence"),
        (-0.05, None, 0.2, "harms"),
        (-0.009, (-0.02, -0.01), 0.0, "no_evidence"),
        (0.009, (0.01, 0.02), 0.0, "no_evidence"),
    ],
)
def test_the_verdict_follows_change_interval_and_neutral_text(
    share: float, interval: Interval | None, rise: float, verdict: str
) -> None:
    assert verdict_of(share, interval, rise) == verdict


def test_the_rise_on_neutral_texts_is_that_of_their_mean() -> None:
    assert forgotten([1.0, 3.0], [1.2, 3.2]) == pytest.approx(0.1)


def test_the_sentence_names_the_sessions_and_the_figures() -> None:
    said = sentence_of("helps", sessions=3, change=-0.2, share=-0.1, interval=(-0.3, -0.1), neutral_rise=0.012)
    assert said == (
        "It helps: on 3 sessions that it was not trained on, the loss on the agent's tokens changes by -0.200 nats per "
        "token (-10.0%), 95 % interval -0.300 to -0.100, and that on neutral text by +1.2%."
    )
    alone = sentence_of("no_evidence", sessions=1, change=0.1, share=0.05, interval=None, neutral_rise=0.0)
    assert alone.startswith("No evidence that it helps: on 1 session that")
    assert "too few windows for an interval" in alone
