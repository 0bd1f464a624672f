"""A recorded session as the document that a hypernetwork reads: whole, or what matters most of it."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from imprint_trainer.data.fit import fair_shares
from imprint_trainer.data.session import Session
from imprint_trainer.errors import NothingToTrain
from imprint_trainer.imprint.entries import Entry, Kind, entries_of, unread_characters
from imprint_trainer.imprint.update import Coverage

_MOST_PER_TOKEN = 10  # characters: more tokens than this allows are not even counted
_MARK = " [...] "
_LEAST = 80  # characters of an entry that are worth reading

# What is read before what: kinds of entries, and how many characters of each entry
_ROUNDS: tuple[tuple[tuple[Kind, ...], int | None], ...] = (
    (("user", "agent", "outcome"), 4000),
    (("commands",), 1000),
    (("errors",), 1500),
    (("results",), 600),
    (("user", "agent"), None),
    (("commands",), None),
    (("errors",), None),
    (("results",), None),
)


@dataclass(frozen=True)
class Document:
    text: str
    read: tuple[Coverage, ...]


def document_of_tokens(session: Session, most_tokens: int, count: Callable[[str], int]) -> Document:
    """`session_document` of as many characters as make at most `most_tokens`, which `count` counts; whole where the
    session does. Raises NothingToTrain for a session that says nothing."""
    entries = entries_of(session)
    characters = min(len(_joined(entries, _whole(entries))), _MOST_PER_TOKEN * most_tokens)
    while True:
        document = session_document(session, characters)
        tokens = count(document.text)
        if tokens <= most_tokens or characters == 0:
            return document
        characters = characters * most_tokens // tokens


def session_document(session: Session, max_characters: int) -> Document:
    """Deterministic, in the session's order, and at most `max_characters` long. A session that fits is read whole; else
    what people and agent wrote comes before commands, errors, and other output, and cuts are marked: " [...] " inside
    an entry, "[n entries left out]" between entries. Where no entry fits beside its marks, the document is as much of
    the first one as does. Raises NothingToTrain for a session that says nothing."""
    entries = entries_of(session)
    if not entries:
        raise NothingToTrain(f"The session {session.session_id} holds no task, decision, command or result.")
    lengths = _fitting(entries, max_characters)
    whole, kept = Counter[str](), Counter[str]()
    for entry, length in zip(entries, lengths, strict=True):
        whole[entry.kind] += len(entry.text)
        kept[entry.kind] += len(entry.text) if length == len(entry.text) else max(0, length - len(_MARK))
    whole.update(unread_characters(session))
    read = tuple(Coverage(kind, whole[kind], kept[kind]) for kind in whole if whole[kind])
    return Document(_joined(entries, lengths)[:max_characters], read)


def shorten(text: str, length: int) -> str:
    """At most `length` characters: beginning and end, with a mark between."""
    if len(text) <= length:
        return text
    kept = max(0, length - len(_MARK))
    return (text[: kept - kept // 2] + _MARK + text[len(text) - kept // 2 :])[:length]


def _whole(entries: Sequence[Entry]) -> list[int]:
    return [len(entry.text) for entry in entries]


def _fitting(entries: Sequence[Entry], max_characters: int) -> list[int]:
    """Characters of each entry, marks inside it included, 0 where it is left out."""
    lengths = _whole(entries)
    excess = len(_joined(entries, lengths)) - max_characters
    room = max_characters
    while excess > 0:
        lengths = _lengths(entries, room)
        if not any(lengths):
            first, *others = entries
            return [max(0, min(len(first.text), max_characters - _around(first))), *(0 for _ in others)]
        excess = len(_joined(entries, lengths)) - max_characters
        room -= excess  # the marks of what is left out take room too
    return lengths


def _lengths(entries: Sequence[Entry], room: int) -> list[int]:
    """Characters of each entry, 0 where it is left out, that fit `room` together with their labels."""
    lengths = [0] * len(entries)
    for kinds, most in _ROUNDS:
        wanted: dict[int, int] = {}  # characters more, label and line end included
        for index, entry in enumerate(entries):
            size = len(entry.text) if most is None else min(len(entry.text), most)
            if entry.kind in kinds and size > lengths[index]:
                wanted[index] = size - lengths[index] + (0 if lengths[index] else _around(entry))
        shares = dict(zip(wanted, fair_shares(list(wanted.values()), room), strict=True))
        if any(shares[index] < min(wanted[index], _LEAST) for index in wanted):
            shares = _latest(wanted, room)
        for index, share in shares.items():
            lengths[index] += share - (0 if lengths[index] else _around(entries[index]))
            room -= share
        if shares != wanted:
            break
    return lengths


def _latest(wanted: dict[int, int], room: int) -> dict[int, int]:
    """The first of these entries and as many of the last as fit, a little of each."""
    shares = {}
    first, *others = wanted
    for index in [first, *reversed(others)]:
        share = min(wanted[index], _LEAST)
        if share > room:
            break
        shares[index] = share
        room -= share
    return shares


def _around(entry: Entry) -> int:
    """Characters of an entry's line that are not its text."""
    return len(f"{entry.label}: \n")


def _joined(entries: Sequence[Entry], lengths: Sequence[int]) -> str:
    lines: list[str] = []
    left_out = 0
    for entry, length in [*zip(entries, lengths, strict=True), (None, 1)]:
        if not length:
            left_out += 1
            continue
        if left_out:
            lines.append(f"[{left_out} entries left out]")
            left_out = 0
        if entry is not None:
            lines.append(f"{entry.label}: {shorten(entry.text, length)}")
    return "\n".join(lines)
