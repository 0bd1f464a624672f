"""What the measurements say, in one word and in one sentence."""

from collections.abc import Sequence
from typing import Literal

from imprint_trainer.resampling import Interval

Verdict = Literal["helps", "no_evidence", "harms"]

LEAST = 0.01  # of the base's loss: a smaller change says nothing, however sure it is
TOLERATED = 0.05  # rise of the loss on neutral text up to which an adapter can help
HARMFUL = 0.10  # ... and beyond which it harms


def forgotten(before: Sequence[float], after: Sequence[float]) -> float:
    """The rise of the mean loss of the neutral texts, as a share; each text counts the same."""
    return sum(after) / sum(before) - 1 if sum(before) else 0.0


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
