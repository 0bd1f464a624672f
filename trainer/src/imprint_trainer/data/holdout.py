"""Which part of the sessions is tested on and never trained on: by time, the past trains and the future tests."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from imprint_trainer.data.select import turn_keys
from imprint_trainer.data.session import Session
from imprint_trainer.data.windows import Window
from imprint_trainer.protocol import Holdout

AUTO_SHARE = 0.2
SMALLEST_SESSION = 2048  # supervised tokens: of less, nothing can be spared
SMALLEST_PART = 512  # supervised tokens: less measures nothing
LARGEST_PART = 1 / 3  # of a session
FEWEST_RECORDINGS = 3  # of which whole ones are held out
MEASURED = 4096  # supervised tokens that a held-out loss is measured on


@dataclass(frozen=True)
class Recorded:
    """What decides on which side a session stands."""

    session_id: str
    started: datetime | None
    turns: frozenset[str]  # keys of its agent turns, with all that stands before them


@dataclass(frozen=True)
class Split:
    whole: frozenset[str] = frozenset()  # ids of sessions that are held out
    last_part_of: str | None = None  # id of the session whose last part is, where it is long enough
    share: float = AUTO_SHARE


@dataclass(frozen=True)
class HeldOut:
    """`windows` are a seeded sample, each with the id of its session. `whole`: nothing of the sessions is trained; else
    the last part of one is held out."""

    sessions: tuple[str, ...]
    windows: tuple[tuple[str, Window], ...]
    whole: bool = True


def recorded(session: Session, *, reasoning: bool) -> Recorded:
    keys = turn_keys(session, reasoning=reasoning)
    agent = {key for key, step in zip(keys, session.steps, strict=True) if step.source == "agent"}
    return Recorded(session.session_id, started_at(session), frozenset(agent))


def started_at(session: Session) -> datetime | None:
    try:
        found = datetime.fromisoformat(session.started_at) if session.started_at else None
    except ValueError:
        return None
    return found.replace(tzinfo=found.tzinfo or UTC) if found else None


def split_of(recordings: Sequence[Recorded], holdout: Holdout) -> Split:
    """The sessions in the order of the request, which is taken for their age where one does not say when it began.

    A recording that resumes or forks another stands on that one's side.
    """
    if isinstance(holdout, list):
        return Split(frozenset(holdout))
    if holdout == "none" or not recordings:
        return Split()
    share = AUTO_SHARE if holdout == "auto" else holdout
    ages = [one.started for one in recordings]
    by_age = sorted(recordings, key=lambda one: one.started.timestamp() if one.started and all(ages) else 0.0)
    copies = together(by_age)
    held: set[str] = set()
    for group in reversed(copies) if len(copies) >= FEWEST_RECORDINGS else ():
        if len(held) >= max(1, round(share * len(recordings))) or len(held) + len(group) > len(recordings) // 2:
            break
        held |= set(group)
    return Split(frozenset(held), share=share) if held else Split(last_part_of=by_age[-1].session_id, share=share)


def together(by_age: Sequence[Recorded]) -> list[list[str]]:
    """Ids of recordings that have turns in common, in the order of the oldest of each group."""
    groups: list[tuple[list[str], set[str]]] = []
    for one in by_age:
        related = [group for group in groups if group[1] & one.turns]
        if not related:
            groups.append(([one.session_id], set(one.turns)))
            continue
        first = related[0]
        for other in related[1:]:
            first[0].extend(other[0])
            first[1].update(other[1])
            groups.remove(other)
        first[0].append(one.session_id)
        first[1].update(one.turns)
    return [ids for ids, _ in groups]


def last_part(windows: Sequence[Window], share: float) -> int | None:
    """The first step of a session's last part that is held out: the nearest to `share` of its supervised tokens.

    None where the session is too short, or no turn begins at the right place.
    """
    tokens: Counter[int] = Counter()
    for window in windows:
        for step, start, end in window.answer_spans:
            tokens[step] += sum(window.supervised[max(start, 1) : end])
    total, taken = tokens.total(), 0
    if total < SMALLEST_SESSION:
        return None
    found: dict[int, float] = {}
    for step in sorted(tokens, reverse=True):
        taken += tokens[step]
        if SMALLEST_PART <= taken <= max(share, LARGEST_PART) * total:
            found[step] = abs(taken - share * total)
    return min(found, key=lambda step: found[step]) if found else None


def sampled(sessions: Iterable[tuple[str, Sequence[Window]]]) -> tuple[tuple[str, Window], ...]:
    """Windows of about `MEASURED` supervised tokens, spread over the sessions: the same ones for the same windows."""
    rng = random.Random("held out")
    places = []
    for session_id, windows in sessions:
        order = rng.sample(range(len(windows)), len(windows))
        places += [(rank, rng.random(), session_id, windows, index) for rank, index in enumerate(order)]
    chosen: defaultdict[str, list[tuple[int, Window]]] = defaultdict(list)
    tokens = 0
    for _, _, session_id, windows, index in sorted(places, key=lambda place: place[:2]):
        if tokens >= MEASURED:
            break
        chosen[session_id].append((index, windows[index]))
        tokens += windows[index].supervised_count
    return tuple(
        (session_id, window)
        for session_id, found in chosen.items()
        for _, window in sorted(found, key=lambda one: one[0])
    )
