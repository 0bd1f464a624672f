"""How sure a figure is: the same figure of samples drawn with replacement (Efron and Tibshirani 1993, chapter 13)."""

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

DRAWS = 2000
COVERAGE = 0.95

Interval = tuple[float, float]
Unit = TypeVar("Unit")


def drawn(units: Sequence[Unit], figure: Callable[[Sequence[Unit]], float], seed: int) -> list[float]:
    """The figure of DRAWS samples of as many units, in ascending order."""
    source = random.Random(seed)
    return sorted(figure(source.choices(units, k=len(units))) for _ in range(DRAWS))


def interval(units: Sequence[Unit], figure: Callable[[Sequence[Unit]], float], seed: int) -> Interval | None:
    """The 95 % percentile interval; None where there is but one unit to draw."""
    if len(units) < 2:
        return None
    found = drawn(units, figure, seed)
    return quantile(found, (1 - COVERAGE) / 2), quantile(found, (1 + COVERAGE) / 2)


def quantile(values: Sequence[float], share: float) -> float:
    """Of sorted values, with linear interpolation between neighbours (numpy's default)."""
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)
