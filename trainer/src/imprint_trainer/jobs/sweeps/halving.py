"""Successive halving (Jamieson and Talwalkar, arXiv 1502.07943): when which trials are stopped.

Of n trials the worse half is stopped floor(log2 n) times, each time after twice the share of their steps, the last time
half-way. No halving comes before a trial's fourth step, since the first steps of a warm-up compare nothing.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

EARLIEST = 4  # steps

EarlyStopping = Literal["halving", "none"]


def halvings(early_stopping: EarlyStopping, *, max_steps: Sequence[int]) -> list[float]:
    """Shares of their steps after which the worse half is stopped, ascending. `max_steps`: of each trial."""
    if early_stopping == "none":
        return []
    times = int(math.log2(len(max_steps)))
    shares = [2.0 ** (at - times) for at in range(times)]
    return [share for share in shares if share * min(max_steps) >= EARLIEST]


def pause_of(share: float, max_steps: int) -> int:
    """The step after which a trial is compared with the others."""
    return math.ceil(share * max_steps)


def better_half(losses: Mapping[int, float]) -> list[int]:
    """The trials that go on, by number: the half with the lower losses, rounded up; of equal ones the first."""
    ranked = sorted(losses, key=lambda number: (losses[number], number))
    return sorted(ranked[: math.ceil(len(ranked) / 2)])


def steps_at_most(max_steps: Sequence[int], done: Sequence[int], shares: Sequence[float]) -> int:
    """Steps that are left to these trials, whichever of them the halvings at `shares` stop. `done`: steps of each."""
    left, alive, reached = 0, len(max_steps), list(done)
    for share in [*shares, 1.0]:
        ends = [max(pause_of(share, steps), ran) for steps, ran in zip(max_steps, reached, strict=True)]
        left += sum(sorted((end - ran for end, ran in zip(ends, reached, strict=True)), reverse=True)[:alive])
        reached, alive = ends, math.ceil(alive / 2)
    return left
