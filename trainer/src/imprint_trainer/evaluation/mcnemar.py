"""Whether two answers to the same questions differ by more than chance."""

from collections.abc import Sequence
from math import comb


def p_value(one: Sequence[bool], other: Sequence[bool]) -> float:
    """McNemar's exact test, two-sided: a coin toss for each pair of which just one is right (McNemar 1947)."""
    pairs = list(zip(one, other, strict=True))
    gained, lost = pairs.count((False, True)), pairs.count((True, False))
    discordant = gained + lost
    tail = sum(comb(discordant, count) for count in range(min(gained, lost) + 1))
    return min(1.0, 2 * float(tail) / 2.0**discordant)
