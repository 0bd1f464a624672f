"""Where a session is cut into windows: arithmetic on the lengths of turns (training-data rule 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True)
class Cost:
    """Tokens of a unit: of the turn itself, and of what came back from it."""

    own: int
    after: int
    supervised: bool


@dataclass(frozen=True)
class Slice:
    """Units [start, stop) make a window that supervises `new`; what follows its last turn is left out."""

    start: int
    stop: int
    new: tuple[int, ...]
    over_long: bool = False  # its one turn exceeds a window by itself


def slices(costs: Sequence[Cost], *, budget: int, one_each: bool = False) -> list[Slice]:
    """Cut units into overlapping windows of at most `budget` tokens, each supervised unit new in exactly one.

    About half of a window may repeat earlier turns as context; the turn right before the first new one is kept even
    beyond that, since the answer refers to it. `one_each`: a window for each supervised unit.
    """
    sums = [0, *accumulate(cost.own + cost.after for cost in costs)]
    todo = [index for index, cost in enumerate(costs) if cost.supervised]
    result: list[Slice] = []

    def length(start: int, last: int) -> int:
        return sums[last] - sums[start] + costs[last].own

    done = 0
    while done < len(todo):
        first = todo[done]
        over_long = costs[first].own > budget
        room = budget // 2 if over_long else budget - costs[first].own
        start = first
        while start and sums[first] - sums[start - 1] <= (room if start == first else min(room, budget // 2)):
            start -= 1
        count = 1
        while not (over_long or one_each) and done + count < len(todo) and length(start, todo[done + count]) <= budget:
            count += 1
        new = tuple(todo[done : done + count])
        while start and not over_long and length(start - 1, new[-1]) <= budget:
            start -= 1
        result.append(Slice(start, new[-1] + 1, new, over_long))
        done += count
    return result
