"""What the measurements say: paired differences, how sure they are, one word and one sentence."""

from collections.abc import Hashable, Sequence
from math import comb
from typing import Any, Literal

from imprint_trainer.evaluation.actions import MEASURES, Judged
from imprint_trainer.evaluation.measure import Loss
from imprint_trainer.resampling import Interval, interval

Verdict = Literal["helps", "no_evidence", "harms"]
LEAST = 0.01  # of the base's loss: a smaller change says nothing, however sure it is
TOLERATED = 0.05  # rise of the loss on neutral text up to which an adapter can help
HARMFUL = 0.10  # ... and beyond which it harms


def verdict_of(share: float, interval: Interval | None, neutral_rise: float) -> Verdict:
    """`share`: adapter - base, of the base's loss. `interval`: of adapter - base in nats per token, None where there is
    too little to make one."""
    if neutral_rise > HARMFUL or (interval is not None and interval[0] > 0 and share >= LEAST):
        return "harms"
    if interval is not None and interval[1] < 0 and share <= -LEAST and neutral_rise <= TOLERATED:
        return "helps"
    return "no_evidence"


def sentence_of(
    verdict: Verdict, *, sessions: int, change: float, share: float, interval: Interval | None, neutral_rise: float
) -> str:
    """Why, with the figures that decided it."""
    where = "1 session that it was" if sessions == 1 else f"{sessions} sessions that it was"
    range_ = (
        f"95 % interval {interval[0]:+.3f} to {interval[1]:+.3f}" if interval else "too few windows for an interval"
    )
    measured = (
        f"on {where} not trained on, the loss on the agent's tokens changes by {change:+.3f} nats per token "
        f"({share:+.1%}), {range_}, and that on neutral text by {neutral_rise:+.1%}"
    )
    heads = {"helps": "It helps", "harms": "It harms", "no_evidence": "No evidence that it helps"}
    return f"{heads[verdict]}: {measured}."


def forgotten(before: Sequence[float], after: Sequence[float]) -> float:
    """The rise of the mean loss of the neutral texts, as a share; each text counts the same."""
    return sum(after) / sum(before) - 1 if sum(before) else 0.0


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


def compared(base: Sequence[Judged], adapter: Sequence[Judged]) -> dict[str, Any] | None:
    """The contracts' `actions` of an evaluation; None where nothing was sampled."""
    if not base:
        return None
    columns = {name: ([one[name] for one in base], [one[name] for one in adapter]) for name in MEASURES}
    return {
        "sampled": len(base),
        "base": {name: sum(ours) for name, (ours, _) in columns.items()},
        "adapter": {name: sum(theirs) for name, (_, theirs) in columns.items()},
        "p_values": {name: p_value(ours, theirs) for name, (ours, theirs) in columns.items()},
    }


def p_value(one: Sequence[bool], other: Sequence[bool]) -> float:
    """McNemar's exact test, two-sided: a coin toss for each pair of which just one is right (McNemar 1947)."""
    pairs = list(zip(one, other, strict=True))
    gained, lost = pairs.count((False, True)), pairs.count((True, False))
    discordant = gained + lost
    tail = sum(comb(discordant, count) for count in range(min(gained, lost) + 1))
    return min(1.0, 2 * float(tail) / 2.0**discordant)
