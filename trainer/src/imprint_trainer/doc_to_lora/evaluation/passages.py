"""Recorded sessions in two: a first part of so many chunks, which is read, and windows of what follows it."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.data.session import Session, Step, load_session
from imprint_trainer.data.sessions import UNTRAINABLE
from imprint_trainer.data.windows import Window
from imprint_trainer.doc_to_lora.document import document_text
from imprint_trainer.doc_to_lora.prompt import document_ids
from imprint_trainer.errors import NothingToTrain
from imprint_trainer.models.base import LoadedBase

WINDOW = 1024  # tokens
LEAST_SUPERVISED = 64  # tokens of what follows
CHARACTERS = 8  # rendered for each token that is wanted, at most
LEAST_CHARACTERS = 200  # of a document


@dataclass(frozen=True)
class Passage:
    """`text` is the document of the first part; `read` its windows, `rest` those of what follows, which begin with the
    session's own system text and task, as an agent that goes on has them."""

    group: str
    session: str
    chunks: int
    text: str
    tokens: int
    read: tuple[Window, ...]
    rest: tuple[Window, ...]


def session_files(folder: Path, limit: int | None = None) -> list[Path]:
    """Of each group (sub-folder) in turn, in order of names; at most `limit`."""
    groups = [sorted(group.glob("*.json")) for group in sorted(folder.iterdir()) if group.is_dir()]
    turns = range(max(map(len, groups), default=0))
    return [group[turn] for turn in turns for group in groups if turn < len(group)][:limit]


def passage(base: LoadedBase, name: str, path: Path, chunks: int, length: int, windows: int) -> Passage | None:
    """The shortest first part whose document has at least `chunks` chunks of `length` ids, shortened to as many, and
    the first `windows` windows of the rest; None where the session is shorter or too little of the agent follows."""
    try:
        session = load_session(path)
    except UNTRAINABLE:
        return None
    wanted = chunks * length
    cuts = [index + 1 for index, step in enumerate(session.steps) if step.source == "agent"]

    def count(text: str) -> int:
        return len(document_ids(base.tokenizer, name, text))

    def is_long(cut: int) -> bool:
        return count(_document(session, cut, CHARACTERS * wanted)) >= wanted

    place = bisect_left(cuts, True, key=is_long)
    if place == len(cuts):
        return None
    cut, low, high = cuts[place], LEAST_CHARACTERS, CHARACTERS * wanted
    while high - low > 1:  # the longest document of no more ids
        middle = (low + high) // 2
        low, high = (middle, high) if count(_document(session, cut, middle)) <= wanted else (low, middle)
    text = _document(session, cut, low)
    before = session.model_copy(update={"steps": session.steps[:cut], "outcome": "unknown"})
    after = session.model_copy(update={"steps": _rest(session.steps, cut, windows)})
    read, rest = _windows(base, before), _windows(base, after)[:windows]
    if not read or sum(one.supervised_count for one in rest) < LEAST_SUPERVISED:
        return None
    return Passage(path.parent.name, path.stem, chunks, text, count(text), read, rest)


def spread(windows: Sequence[Window], count: int) -> list[Window]:
    """`count` of them, evenly over the session."""
    if len(windows) <= count:
        return list(windows)
    return [windows[index * (len(windows) - 1) // max(1, count - 1)] for index in range(count)]


def _document(session: Session, cut: int, characters: int) -> str:
    """Empty where the part says nothing."""
    part = session.model_copy(update={"steps": session.steps[:cut], "outcome": "unknown"})
    try:
        return document_text(part, max_characters=characters)
    except NothingToTrain:
        return ""


def _windows(base: LoadedBase, session: Session) -> tuple[Window, ...]:
    """Those with supervised tokens."""
    try:
        prepared = prepare_windows(session, base.tokenizer, max_length=WINDOW, include_unsuccessful=True)
    except UNTRAINABLE:
        return ()
    return tuple(window for window in prepared.windows if window.supervised_count)


def _rest(steps: Sequence[Step], cut: int, windows: int) -> tuple[Step, ...]:
    """What stands before the agent's first step, and steps from the cut on, enough for the windows."""
    first = next(index for index, step in enumerate(steps) if step.source == "agent")
    kept: list[Step] = []
    room = CHARACTERS * WINDOW * windows
    for step in steps[cut:]:
        if room <= 0:
            break
        kept.append(step)
        room -= len(step.text) + sum(len(call.arguments) for call in step.tool_calls)
    return (*steps[:first], *kept)
