"""Where a session is cut into windows: arithmetic on the lengths of turns (training-data rule 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

REQUEST_SHARE = 4  # at most this part of a window's turns goes to a request that stands far before them
SMALLEST_REQUEST = 48  # tokens: less says nothing
SMALLEST_OUTPUT = 24  # tokens: less is a marker alone


@dataclass(frozen=True)
class Cost:
    """Tokens of a unit: of the turn itself, and of what came back from it."""

    own: int
    after: int
    supervised: bool
    request: bool = False  # a person asked for something
    needs: int | None = None  # the unit back to which windows show what this one replaces; -1: none does
    excerpt: int = 0  # tokens of what a shorter window brings along instead


@dataclass(frozen=True)
class Slice:
    """Units [start, stop) make a window that supervises `new`; what follows its last turn is left out.

    Of the turns before `start` it brings along `request`, what the first answer answers, an `excerpt` of what it
    replaces, and a mark that turns are skipped. `lead`: how many tokens these take at most. `output`: to how many
    tokens what came back from its first turn is cut, which alone does not fit.
    """

    start: int
    stop: int
    new: tuple[int, ...]
    request: int | None = None
    excerpt: bool = False
    lead: int = 0
    over_long: bool = False  # its one turn exceeds a window by itself
    output: int | None = None


def request_limit(budget: int) -> int:
    """Tokens of a request that is brought along from before a window."""
    return max(budget // REQUEST_SHARE, SMALLEST_REQUEST)


@dataclass(frozen=True)
class Leads:
    """What windows of `budget` tokens bring along for the turns that they skip: a mark, the latest request, and what
    their first answer replaces."""

    costs: Sequence[Cost]
    budget: int
    mark: int  # tokens

    @cached_property
    def _latest(self) -> list[int | None]:
        latest: list[int | None] = [None]  # the task, which every window has
        for index, cost in enumerate(self.costs):
            latest.append(index if cost.request else latest[-1])
        return latest

    def request(self, start: int, first: int) -> int | None:
        """The unit that the answer `first` answers, where it stands before `start`."""
        request = self._latest[first]
        return request if request is not None and request < start else None

    def excerpt(self, start: int, first: int) -> bool:
        """Whether a window brings along what its first answer replaces: at most half of it goes to that."""
        needs = self.costs[first].needs
        return needs is not None and needs < start and 0 < self.costs[first].excerpt <= self.budget // 2

    def tokens(self, start: int, first: int) -> int:
        """Of what stands for the turns before `start` in a window whose first answer is `first`."""
        request = self.request(start, first)
        asked = 0 if request is None else min(self.costs[request].own, request_limit(self.budget))
        shown = self.costs[first].excerpt if self.excerpt(start, first) else 0
        return shown + (self.mark + asked if start else 0)


def slices(costs: Sequence[Cost], *, budget: int, mark: int = 0, one_each: bool = False) -> list[Slice]:
    """Cut units into overlapping windows of at most `budget` tokens, each supervised unit new in exactly one.

    About half of a window may repeat earlier turns as context; the turn right before the first new one, and those back
    to the one that it needs, are kept even beyond that. `mark`: tokens of the note that turns are skipped. `one_each`:
    a window for each supervised unit.
    """
    sums = [0, *accumulate(cost.own + cost.after for cost in costs)]
    leads = Leads(costs, budget, mark)
    todo = [index for index, cost in enumerate(costs) if cost.supervised]
    result: list[Slice] = []

    def length(start: int, first: int, last: int) -> int:
        return leads.tokens(start, first) + sums[last] - sums[start] + costs[last].own

    def needed(first: int, room: int) -> int:
        """Where a window must start to show what its first answer needs; `first` when that does not fit."""
        needs = costs[first].needs
        fits = needs is not None and needs >= 0 and leads.tokens(needs, first) + sums[first] - sums[needs] <= room
        return needs if needs is not None and fits else first

    done = 0
    while done < len(todo):
        first = todo[done]
        over_long = length(first, first, first) > budget
        room = budget // 2 if over_long else budget - costs[first].own
        start = needed(first, room)
        while start:
            context = leads.tokens(start - 1, first) + sums[first] - sums[start - 1]
            if context > (room if start == first else min(room, budget // 2)):
                break
            start -= 1
        count = 1
        for index in [] if over_long or one_each else todo[done + 1 :]:
            needs = costs[index].needs
            if length(start, first, index) > budget or (needs is not None and needs < start):
                break
            count += 1
        new = tuple(todo[done : done + count])
        while start and not over_long and length(start - 1, first, new[-1]) <= budget:
            start -= 1
        output = None
        if start and not over_long and costs[first].needs != start - 1:
            room = budget - length(start - 1, first, new[-1]) + costs[start - 1].after
            if SMALLEST_OUTPUT <= room < costs[start - 1].after:
                start, output = start - 1, room
        lead = leads.tokens(first if over_long else start, first)
        request, excerpt = leads.request(start, first), leads.excerpt(start, first)
        result.append(Slice(start, new[-1] + 1, new, request, excerpt, lead, over_long, output))
        done += count
    return result
