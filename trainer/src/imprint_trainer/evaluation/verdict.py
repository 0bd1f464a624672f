"""What the measurements say: paired differences, how sure they are, one word and one sentence."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, sqrt
from typing import Any, Literal

from imprint_trainer.evaluation.actions import MEASURES, Judged
from imprint_trainer.evaluation.measure import Loss
from imprint_trainer.publish.losses import Interval

Verdict = Literal["helps", "no_evidence", "harms", "too_little_to_tell"]
LEAST_SESSIONS = 5  # fewer sessions, ...
LEAST_TOKENS = 2000  # ... or fewer tokens of the agent in them, tell nothing of the next session
LEAST = 0.01  # of the base's loss: a smaller change says nothing, however sure it is
TOLERATED = 0.05  # rise of the loss on neutral text up to which an adapter can help
MEDIAN_NATS = 0.01  # a median that moves by less than this, ...
MEDIAN_SHARE = 0.02  # ... or by less than this of the base's, says nothing against the mean
SURE = 0.05  # a p-value below it
HARMFUL = 0.10  # ... and beyond which it harms, whatever it was tested on
# Student's t that 2.5 % lie above, for 1, 2, 3, ... degrees of freedom
STUDENT = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)


@dataclass(frozen=True)
class Median:
    """The loss in nats per token that half of the tokens or turns lie above, of the base and with the adapter."""

    of: Literal["token", "turn"]
    before: float
    after: float

    def disagrees(self, change: float) -> bool:
        """Whether it moves beyond noise, and not the way of the mean's `change`."""
        moved = self.after - self.before
        return abs(moved) > max(MEDIAN_NATS, MEDIAN_SHARE * self.before) and moved * change <= 0


@dataclass(frozen=True)
class Evidence:
    """What a verdict rests on: the sessions and the agent's tokens that were tested, the adapter's change of the loss
    in nats per token and as a share of the base's, its interval (None of one session), the medians, the rise on
    neutral text, and the contracts' `actions`."""

    sessions: int
    tokens: int
    change: float
    share: float
    interval: Interval | None
    medians: Sequence[Median]
    neutral_rise: float
    actions: Mapping[str, Any] | None = None

    @property
    def fewer_calls(self) -> bool:
        """Whether fewer next calls are as recorded, surely: what goes best with tasks solved (docs/evaluation.md)."""
        if self.actions is None:
            return False
        before, after, p = (self.actions[part]["same_arguments"] for part in ("base", "adapter", "p_values"))
        return bool(after < before and p < SURE)

    @property
    def against(self) -> list[Median]:
        """The medians that say the opposite of the mean."""
        return [one for one in self.medians if one.disagrees(self.change)]


def verdict_of(found: Evidence) -> Verdict:
    if found.neutral_rise > HARMFUL:
        return "harms"
    if found.sessions < LEAST_SESSIONS or found.tokens < LEAST_TOKENS:
        return "too_little_to_tell"
    low, high = found.interval or (0.0, 0.0)
    if low > 0 and found.share >= LEAST:
        return "harms"
    lower = high < 0 and found.share <= -LEAST
    if lower and found.neutral_rise <= TOLERATED and not found.against and not found.fewer_calls:
        return "helps"
    return "no_evidence"


HEADS: dict[Verdict, str] = {
    "helps": "It helps",
    "harms": "It harms",
    "no_evidence": "No evidence that it helps",
    "too_little_to_tell": f"Too little to tell (fewer than {LEAST_SESSIONS} sessions or {LEAST_TOKENS:,} tokens)",
}


def sentence_of(verdict: Verdict, found: Evidence) -> str:
    """Why, with the figures that decided it."""
    low, high = found.interval or (0.0, 0.0)
    sure = f"95 % interval {low:+.3f} to {high:+.3f}" if found.interval else "no interval of one session"
    sessions = "1 session" if found.sessions == 1 else f"{found.sessions} sessions"
    return (
        f"{HEADS[verdict]}: on {sessions} of {found.tokens:,} tokens that it was not trained on, the loss on the "
        f"agent's tokens changes by {found.change:+.3f} nats per token ({found.share:+.1%}), {sure}, and that on "
        f"neutral text by {found.neutral_rise:+.1%}.{contradiction_of(found)}"
        + (" Fewer next calls are as recorded." if found.fewer_calls else "")
    )


def contradiction_of(found: Evidence) -> str:
    """Which medians say the opposite of the mean; empty where none does."""
    against = " and ".join(f"the median {one.of}'s by {one.after - one.before:+.3f}" for one in found.against)
    return f" Mean and median disagree: {against}; a few tokens may decide the mean." if against else ""


def forgotten(before: Sequence[float], after: Sequence[float]) -> float:
    """The rise of the mean loss of the neutral texts, as a share; each text counts the same."""
    return sum(after) / sum(before) - 1 if sum(before) else 0.0


def paired(base: Sequence[Loss], other: Sequence[Loss], sessions: Sequence[Hashable]) -> tuple[float, Interval | None]:
    """The change from `base` to `other` in nats per token, weighted by tokens, and its 95 % interval.

    The rows hold the same windows, `sessions` names the session of each. The interval is Student's, of a ratio of sums
    over sessions (Cochran 1977, section 6.3). None where there is but one session.
    """
    units: dict[Hashable, tuple[float, int]] = {}
    for before, after, session in zip(base, other, sessions, strict=True):
        difference, tokens = units.get(session, (0.0, 0))
        units[session] = (difference + after.nll - before.nll, tokens + before.tokens)
    kept = [unit for unit in units.values() if unit[1]]
    total = sum(tokens for _, tokens in kept)
    change = sum(difference for difference, _ in kept) / total if total else 0.0
    freedom = len(kept) - 1
    if freedom < 1:
        return change, None
    squares = sum((difference - change * tokens) ** 2 for difference, tokens in kept)
    error = sqrt(squares * len(kept) / freedom) / total
    reach = error * (STUDENT[freedom - 1] if freedom <= len(STUDENT) else 1.96 + 2.5 / freedom)
    return change, (change - reach, change + reach)


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
