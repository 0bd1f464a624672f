from fractions import Fraction
from itertools import product

import pytest

from imprint_trainer.evaluation.verdict import p_value


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
