"""What differs between two rows of losses, with a bootstrap interval."""

from collections.abc import Hashable, Sequence

from imprint_trainer.evaluation.loss import Loss
from imprint_trainer.resampling import Interval, interval


def paired(
    base: Sequence[Loss], other: Sequence[Loss], groups: Sequence[Hashable], seed: int
) -> tuple[float, Interval | None]:
    """The change from `base` to `other` in nats per token, and its 95 % percentile interval.

    The rows hold the same windows. `groups` names the session of each: sessions are drawn with replacement, or windows
    where there is one session. The interval is None where there is but one to draw.
    """
    units = [
        (sum(other[i].nll - base[i].nll for i in members), sum(base[i].tokens for i in members))
        for members in members_of(groups)
    ]
    units = [unit for unit in units if unit[1]]
    return mean(units), interval(units, mean, seed)


def members_of(groups: Sequence[Hashable]) -> list[list[int]]:
    """The windows of each session, or each window alone where all are of one session."""
    if len(set(groups)) == 1:
        return [[index] for index in range(len(groups))]
    found: dict[Hashable, list[int]] = {}
    for index, group in enumerate(groups):
        found.setdefault(group, []).append(index)
    return list(found.values())


def mean(units: Sequence[tuple[float, int]]) -> float:
    """Summed differences per token: long windows count for what they hold."""
    tokens = sum(count for _, count in units)
    return sum(difference for difference, _ in units) / tokens if tokens else 0.0
