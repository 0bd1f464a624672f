"""What of a training fits into the time that it may take, proof included (docs/training.md).

Given up, the least loss first: passes, then windows, evenly over the sessions; what is learned is LEAST_TOKENS at
least. Imports no torch: a preview plans with it too.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from imprint_trainer.data.prepare import Counted, Prepared
from imprint_trainer.data.windows import Window
from imprint_trainer.errors import TimeTooShort
from imprint_trainer.lora.schedule import LOOKS
from imprint_trainer.lora.steps import STEP_TOKENS, LoraTraining, Steps, in_parts, plan_steps, supervised_tokens

UNITS = {"s": 1, "m": 60, "h": 3600}
FORWARD = 1 / 3  # of the work of a step: what reading a window alone takes
# Of the time: what is planned, and after which no step begins. The files take the rest.
PLANNED, HELD = 0.85, 0.95
LEAST_TOKENS = 8 * STEP_TOKENS  # supervised ones of a training that is of use, counted in each pass
PROOF_TOKENS, NEUTRAL_TOKENS = 32_768, 512  # of windows and of neutral text that a proof reads, each twice


@dataclass(frozen=True)
class Fit:
    """The windows of a training, what its steps read of them, and how often."""

    prepared: Prepared
    learned: Sequence[Window]
    steps: Steps

    @classmethod
    def of(cls, prepared: Prepared, training: LoraTraining) -> Self:
        """All of it."""
        learned = in_parts(prepared.windows, training)
        return cls(prepared, learned, plan_steps(learned, training, prepared.text, renamed=bool(prepared.arguments)))

    @property
    def held_out(self) -> int:
        """Tokens."""
        found = self.prepared.held_out
        return sum(len(window.input_ids) for _, window in found.windows) if found else 0

    @property
    def proof(self) -> float:
        """Its work, in tokens of a step."""
        read = min(self.prepared.tokens, PROOF_TOKENS) + NEUTRAL_TOKENS + self.held_out
        return 2 * FORWARD * read

    @property
    def work(self) -> float:
        """Of training and proof, in tokens of a step."""
        epochs = self.steps.max_epochs
        looks = NEUTRAL_TOKENS * (LOOKS + 1 + (epochs if self.held_out else 0)) + self.held_out * (epochs + 1)
        return self.steps.tokens * epochs + FORWARD * looks + self.proof

    def with_passes(self, passes: int) -> Self:
        return replace(self, steps=replace(self.steps, max_epochs=min(passes, self.steps.max_epochs)))

    def noting(self, remark: str) -> Self:
        return replace(self, prepared=replace(self.prepared, remarks=(*self.prepared.remarks, remark)))


@dataclass(frozen=True)
class Within:
    """A time that a training may take, of which `spent` seconds are gone, at so many tokens a second of a step."""

    time: str
    spent: float
    tokens_per_second: float

    def fit(self, whole: Fit, training: LoraTraining) -> Fit:
        """The most that fits, with a remark on it. Raises TimeTooShort."""
        chosen = next((one for one in self.fewer(whole, training) if self.seconds(one) <= seconds_of(self.time)), None)
        if chosen is None:
            least = least_of(whole, training)
            raise TimeTooShort(
                f"Not even {least.steps.maximum} steps over {of(len(least.prepared.windows), 'window')} fit into "
                f"{self.time}: with their proof they take {told(self.seconds(least))} at "
                f"{self.tokens_per_second:.0f} tokens/s."
            )
        return chosen.noting(
            f"Within {self.time}, at {self.tokens_per_second:.0f} tokens/s: {chosen.steps.max_epochs} of at most "
            f"{of(whole.steps.max_epochs, 'pass', 'passes')} over {len(chosen.prepared.windows)} of "
            f"{of(len(whole.prepared.windows), 'window')}, {chosen.steps.maximum} of {whole.steps.maximum} steps."
        )

    def seconds(self, fit: Fit) -> float:
        """That must be allowed for it."""
        return (self.spent + fit.work / self.tokens_per_second) / PLANNED

    def fewer(self, whole: Fit, training: LoraTraining) -> Sequence[Fit]:
        """What may be chosen, the most first: of the windows the greatest number that fits."""
        least = least_of(whole, training)
        first = least_passes(whole)
        passes = [whole.with_passes(passes) for passes in range(whole.steps.max_epochs, first - 1, -1)]
        counts = range(len(least.prepared.windows), len(whole.prepared.windows))
        too_many = bisect_left(
            counts, True, key=lambda count: self.seconds(part_of(whole, count, training)) > seconds_of(self.time)
        )
        return [*passes, *([part_of(whole, counts[too_many - 1], training)] if too_many else [])]


def chosen_before(whole: Fit, training: LoraTraining, *, windows: int, max_steps: int) -> Fit:
    """What a plan with these numbers had chosen."""
    fit = part_of(whole, windows, training, passes=whole.steps.max_epochs)
    return fit.with_passes(max_steps // fit.steps.per_epoch)


def least_passes(fit: Fit) -> int:
    """That are of use."""
    return min(math.ceil(LEAST_TOKENS / supervised_tokens(fit.prepared.windows)), fit.steps.max_epochs)


def least_of(whole: Fit, training: LoraTraining) -> Fit:
    """The least training that is of use."""
    windows = whole.prepared.windows
    enough = min(LEAST_TOKENS / least_passes(whole), supervised_tokens(windows))
    first = bisect_left(range(1, len(windows)), enough, key=lambda count: supervised_tokens(evenly(windows, count)))
    return part_of(whole, first + 1, training)


def part_of(whole: Fit, count: int, training: LoraTraining, passes: int | None = None) -> Fit:
    """Of `count` of its windows. `passes` None: as few as are of use of all of them."""
    prepared = whole.prepared
    if count < len(prepared.windows):
        windows = evenly(prepared.windows, count)
        turns = min(sum(len({answer.step for answer in one.answers}) for one in windows), prepared.supervised_turns)
        left_out = Counted("no_time", prepared.supervised_turns - turns)
        prepared = replace(
            prepared,
            windows=windows,
            tokens=sum(len(window.input_ids) for window in windows),
            supervised_tokens=supervised_tokens(windows),
            supervised_turns=turns,
            dropped=(*prepared.dropped, *([left_out] if left_out.count else [])),
            arguments=(),
        )
    return Fit.of(prepared, training).with_passes(least_passes(whole) if passes is None else passes)


def evenly(windows: Sequence[Window], count: int) -> tuple[Window, ...]:
    return tuple(windows[number * len(windows) // count] for number in range(count))


def seconds_of(time: str) -> int:
    return int(time[:-1]) * UNITS[time[-1]]


def told(seconds: float) -> str:
    """As a request takes it, rounded up."""
    return f"{math.ceil(seconds)}s" if seconds <= 2 * UNITS["m"] else f"{math.ceil(seconds / UNITS['m'])}m"


def of(count: int, one: str, several: str | None = None) -> str:
    return f"{count} {one if count == 1 else several or one + 's'}"
