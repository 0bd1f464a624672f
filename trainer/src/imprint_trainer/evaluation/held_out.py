"""The sessions that an adapter is tested on, without what it was trained on: near copies leak. And the base model's
windows behind what was trained on: what retrieval would give.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from imprint_trainer.data.prepare import Prepared, Skipped, prepare_windows
from imprint_trainer.data.select import said
from imprint_trainer.data.select import turn_keys as keys_with_history
from imprint_trainer.data.session import Session, load_session
from imprint_trainer.data.sessions import UNTRAINABLE, naming
from imprint_trainer.data.windows import Answer, Window
from imprint_trainer.errors import NothingToEvaluate, TrainerError
from imprint_trainer.files import sha256_of
from imprint_trainer.protocol import StagedSession

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


NEAR_COPY = 0.5  # share of its turns beyond which a session is another's copy
NAMED = 5  # skipped sessions that an error names

MOST_BEFORE = 2048  # tokens that are put before a window


@dataclass(frozen=True)
class Tested:
    """A session, and the windows that hold the turns of it that were trained nowhere."""

    session: Session
    sha256: str
    windows: tuple[Window, ...]
    dropped_turns: int
    near_copy_of: str | None = None

    @property
    def session_id(self) -> str:
        return self.session.session_id


@dataclass(frozen=True)
class Split:
    tested: tuple[Tested, ...]
    copies: tuple[Tested, ...]  # near copies of what was trained on: without windows
    skipped: tuple[Skipped, ...]


def turn_keys(session: Session) -> dict[int, str]:
    """For each agent step that says something a digest of it and of what it answers.

    Unlike the keys of `data/select.py` it forgets what stands earlier: a turn that was seen after another history was
    seen all the same.
    """
    found = {}
    for index, step in enumerate(session.steps):
        words = said(step, reasoning=False)
        if step.source != "agent" or not words:
            continue
        before = session.steps[index - 1] if index else None
        answered = [said(before, False), [item.content.strip() for item in before.observations]] if before else []
        found[index] = hashlib.sha256(json.dumps([words, answered]).encode()).hexdigest()
    return found


def trained_turns(trained: Sequence[Session]) -> dict[str, list[str]]:
    """The key of each turn that was trained on, and the sessions in which it stands, in their order."""
    found: dict[str, list[str]] = {}
    for session in trained:
        for key in dict.fromkeys(turn_keys(session).values()):
            found.setdefault(key, []).append(session.session_id)
    return found


def split(
    sessions: Iterable[StagedSession],
    trained: Mapping[str, Sequence[str]],
    tokenizer: "PreTrainedTokenizerBase",
    *,
    max_length: int,
    reasoning: bool,
) -> Split:
    """`trained`: what `trained_turns` found. A turn that two tested sessions share counts in the first of them.
    Raises NothingToEvaluate where no session is left."""
    tested: list[Tested] = []
    copies: list[Tested] = []
    skipped: list[Skipped] = []
    earlier: dict[str, str] = {}  # turns of the sessions before, with their history
    for one in sessions:
        try:
            session = load_session(one.path).model_copy(update={"session_id": one.session_id})
            keys, digest = turn_keys(session), sha256_of(Path(one.path))
            shared = {index: trained[key] for index, key in keys.items() if key in trained}
            original, count = most_common(shared.values())
            if original is not None and count > NEAR_COPY * len(keys):
                copies.append(Tested(session, digest, (), len(shared), original))
                skipped.append(trained_on(one.session_id, original))
                continue
            histories = keys_with_history(session, reasoning=reasoning)
            elsewhere = {i: earlier[key] for i, key in enumerate(histories) if key in earlier}
            elsewhere |= {index: ids[0] for index, ids in shared.items()}
            part = prepare_windows(session, tokenizer, max_length=max_length, reasoning=reasoning, elsewhere=elsewhere)
        except UNTRAINABLE as error:
            skipped.append(Skipped(one.session_id, error.code, naming(one.session_id, error.message)))
        else:
            tested.append(Tested(session, digest, part.windows, dropped(part, shared)))
            earlier |= {histories[turn.step]: one.session_id for turn in part.turns if turn.reason is None}
    if not tested:
        raise nothing(skipped)
    return Split(tuple(tested), tuple(copies), tuple(skipped))


def most_common(found: Iterable[Sequence[str]]) -> tuple[str | None, int]:
    """The session that holds the most of the turns, the first of several, and how many."""
    counts = Counter(session_id for ids in found for session_id in ids)
    return counts.most_common(1)[0] if counts else (None, 0)


def dropped(part: Prepared, shared: Mapping[int, object]) -> int:
    return sum(turn.reason == "shared_turn" and turn.step in shared for turn in part.turns)


def trained_on(session_id: str, original: str) -> Skipped:
    if session_id == original:
        return Skipped(session_id, "SESSION_TRAINED_ON", f"The adapter was trained on session {session_id}.")
    return Skipped(
        session_id,
        "SESSION_TRAINED_ON",
        f"Most turns of session {session_id} stand in session {original}, which the adapter was trained on.",
    )


def nothing(skipped: Sequence[Skipped]) -> TrainerError:
    named = " ".join(one.message for one in skipped[:NAMED])
    more = f" And {len(skipped) - NAMED} more." if len(skipped) > NAMED else ""
    return NothingToEvaluate(f"No session is left to test the adapter on. {named}{more}")


def text_before(
    trained: Sequence[Session], tokenizer: "PreTrainedTokenizerBase", *, max_length: int, reasoning: bool
) -> tuple[int, ...]:
    """The newest tokens of the sessions (oldest first) that can be rendered, as their windows of `max_length` tokens
    hold them."""
    found: tuple[int, ...] = ()
    for session in reversed(trained):
        try:
            prepared = prepare_windows(
                session, tokenizer, max_length=max_length, include_unsuccessful=True, reasoning=reasoning
            )
        except UNTRAINABLE:
            continue
        found = (*(token for window in prepared.windows for token in window.input_ids), *found)
        if len(found) >= MOST_BEFORE:
            break
    return found[-MOST_BEFORE:]


def with_text_before(window: Window, text: Sequence[int], reach: int) -> Window:
    """The window behind as much of the text's end as the model's context (`reach` tokens) has room for."""
    room = min(max(0, reach - len(window.input_ids)), len(text))
    before = tuple(text[len(text) - room :])
    return Window(
        (*before, *window.input_ids),
        (*(False,) * (room + 1), *window.supervised[1:]),  # the first token of a window is no target
        tuple(Answer(answer.step, answer.start + room) for answer in window.answers),
    )
