"""Where a session is cut into windows, and how long those are: arithmetic on lengths (training-data rule 3)."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

REQUEST_SHARE = 4  # at most this part of a window's turns goes to a request that stands far before them
REPEATED_SHARE = 8  # at most this part repeats turns that an earlier window has shown
EXCERPTS_SHARE = 4  # at most this part goes to excerpts for several answers
SMALLEST_REQUEST = 48  # tokens: less says nothing
SMALLEST_OUTPUT = 24  # tokens: less is a marker alone

LENGTH_STEP = 128  # lengths are rounded up to multiples of this
USUAL = 1024  # tokens: shorter only where the base model was not made for so many
# On a CPU a token costs about a tenth more at 2,048 than at 1,024, nearly twice as much at 8,192: attention.
MOST_ON_CPU = 2048


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

    Of the turns before `start` it brings along `request`, what the first answer answers, `excerpts` of what these of
    its answers replace, and a mark that turns are skipped. `lead`: how many tokens these take at most. `output`: to how
    many tokens what came back from its first turn is cut, which alone does not fit.
    """

    start: int
    stop: int
    new: tuple[int, ...]
    request: int | None = None
    excerpts: tuple[int, ...] = ()
    lead: int = 0
    over_long: bool = False  # its one turn exceeds a window by itself
    output: int | None = None


def request_limit(budget: int) -> int:
    """Tokens of a request that is brought along from before a window."""
    return max(budget // REQUEST_SHARE, SMALLEST_REQUEST)


@dataclass(frozen=True)
class Context:
    """What windows of `budget` tokens bring along for the turns that they skip: a mark, the latest request, and what
    their answers replace."""

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

    def unseen(self, start: int, new: Sequence[int]) -> list[int]:
        """The answers that replace what was shown before `start`."""
        return [index for index in new if (needs := self.costs[index].needs) is not None and needs < start]

    def excerpts(self, start: int, new: Sequence[int]) -> tuple[int, ...]:
        """The answers for which a window brings along what they replace: at most half of it goes to the first one's,
        and a quarter to those of several."""
        found: list[int] = []
        taken = 0
        for index in self.unseen(start, new):
            limit = self.budget // (2 if index == new[0] else EXCERPTS_SHARE)
            if 0 < self.costs[index].excerpt <= limit - taken:
                found.append(index)
                taken += self.costs[index].excerpt
        return tuple(found)

    def tokens(self, start: int, new: Sequence[int]) -> int:
        """Of what stands for the turns before `start` in a window that supervises `new`."""
        request = self.request(start, new[0])
        asked = 0 if request is None else min(self.costs[request].own, request_limit(self.budget))
        shown = sum(self.costs[index].excerpt for index in self.excerpts(start, new))
        return shown + (self.mark + asked if start else 0)


@dataclass(frozen=True)
class Planner:
    """Cuts units into windows of at most `budget` tokens."""

    context: Context
    borders: Collection[int]  # answers that begin a window

    @cached_property
    def costs(self) -> Sequence[Cost]:
        return self.context.costs

    @cached_property
    def _sums(self) -> list[int]:
        return [0, *accumulate(cost.own + cost.after for cost in self.costs)]

    def slices(self) -> Iterator[Slice]:
        todo = [index for index, cost in enumerate(self.costs) if cost.supervised]
        read = 0  # units before this one stood in a window; of the last of them, what came back did not
        while todo:
            piece = self.slice(todo, read)
            todo, read = todo[len(piece.new) :], piece.stop
            yield piece

    def slice(self, todo: Sequence[int], read: int) -> Slice:
        """The window that supervises the first of `todo`, and those after it that fit."""
        budget, first = self.context.budget, todo[0]
        over_long = self.length(first, todo[:1]) > budget
        room = budget // 2 if over_long else budget - self.costs[first].own
        start = self.reach(first, read, room)
        count = 1
        for index in [] if over_long else todo[1:]:
            new = todo[: count + 1]
            unseen = set(self.context.unseen(start, new[1:])) - set(self.context.excerpts(start, new))
            if index in self.borders or unseen or self.length(start, new) > budget:
                break
            count += 1
        new = tuple(todo[:count])
        while not over_long and self.may_open(start - 1, read) and self.length(start - 1, new) <= budget:
            start -= 1
        output = None
        may_cut = start >= max(read, 1) and (start == first or self.may_open(start - 1, read))
        if may_cut and not over_long and self.costs[first].needs != start - 1:
            left = budget - self.length(start - 1, new) + self.costs[start - 1].after
            if SMALLEST_OUTPUT <= left < self.costs[start - 1].after:
                start, output = start - 1, left
        begin, last = first if over_long else start, new[-1]
        lead, excerpts = self.context.tokens(begin, new), self.context.excerpts(start, new)
        return Slice(start, last + 1, new, self.context.request(start, first), excerpts, lead, over_long, output)

    def length(self, start: int, new: Sequence[int]) -> int:
        last = new[-1]
        return self.context.tokens(start, new) + self._sums[last] - self._sums[start] + self.costs[last].own

    def reach(self, first: int, read: int, room: int) -> int:
        """Where a window must start so that its first answer sees what came before it: half a window, or `room` where
        the turn right before it or what it replaces takes that much."""

        def context(start: int) -> int:
            return self.context.tokens(start, [first]) + self._sums[first] - self._sums[start]

        start, needs = first, self.costs[first].needs
        if needs is not None and needs >= 0 and context(needs) <= room:
            excerpted = first in self.context.excerpts(first, [first])
            start = needs if self.may_open(needs, read) or not excerpted else first
        while start:
            limit = room if start == first else min(room, self.context.budget // 2)
            if context(start - 1) > limit or not (start == first or self.may_open(start - 1, read)):
                break
            start -= 1
        return start

    def may_open(self, start: int, read: int) -> bool:
        """Whether a window may start there: of what was read before, it repeats a part only."""
        if start >= read:
            return start >= 0
        repeated = self._sums[read] - self._sums[start] - self.costs[read - 1].after
        return start >= 0 and repeated <= self.context.budget // REPEATED_SHARE


def slices(costs: Sequence[Cost], *, budget: int, mark: int = 0, borders: Collection[int] = ()) -> list[Slice]:
    """Cut units into overlapping windows of at most `budget` tokens, each supervised unit new in exactly one.

    An eighth of a window may repeat turns that were read before, and more only where it is the turn right before the
    first answer, or what that one replaces and no excerpt shows. `mark`: tokens of the note that turns are skipped.
    `borders`: supervised units that begin a window.
    """
    return list(Planner(Context(costs, budget, mark), borders).slices())


def rounded(tokens: int) -> int:
    return -(-tokens // LENGTH_STEP) * LENGTH_STEP


def length_limit(*, made_for: int, fits: int, on_cpu: bool) -> int:
    """Tokens of a window at most: no more than the base model was made for, and than fit into memory."""
    return min(made_for, max(USUAL, min(fits, MOST_ON_CPU) if on_cpu else fits))


def window_length(asked: int | None, *, limit: int, needed: int) -> int:
    """Tokens of a window; where none are asked for, as many as the length_limit session of `needed` tokens takes, up to
    `limit`."""
    return asked if asked is not None else min(limit, max(USUAL, rounded(needed)))
