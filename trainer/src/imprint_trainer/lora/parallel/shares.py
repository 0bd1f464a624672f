"""Who computes which windows of a step."""

from collections.abc import Sequence


def shares(lengths: Sequence[int], processes: int) -> list[list[int]]:
    """Positions in `lengths` (tokens) for each process: the longest window first, to whoever has the fewest tokens so
    far, so that none waits long for another. The first process has a window always; others may have none."""
    given: list[list[int]] = [[] for _ in range(processes)]
    tokens = [0] * processes
    for position in sorted(range(len(lengths)), key=lambda at: (-lengths[at], at)):
        least = tokens.index(min(tokens))
        given[least].append(position)
        tokens[least] += lengths[position]
    return given


def processes_of(asked: int, *, windows: int, cards: int | None, need_mb: float | None, have_mb: float) -> int:
    """How many of `asked` processes a training takes: no more than its steps have windows, than there are cards, and,
    where `cards` is None, than the memory holds with so much each."""
    if cards is not None:
        return max(1, min(asked, windows, cards))
    fitting = asked if need_mb is None else int(have_mb // max(need_mb, 1.0))
    return max(1, min(asked, windows, fitting))
