"""Sessions in two: a document made of the first part, windows of the rest."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.data.session import Session, Step, load_session
from imprint_trainer.data.sessions import UNTRAINABLE
from imprint_trainer.data.windows import Window
from imprint_trainer.doc_to_lora.chunks import split_chunks
from imprint_trainer.doc_to_lora.document import document_text
from imprint_trainer.doc_to_lora.prompt import chunk_affixes, document_ids
from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.refusal import TrainingRefused
from imprint_trainer.doc_to_lora.training.rest.config import RestConfig

CHUNK_CHARACTERS = 800  # of a document for each chunk that it may have
REST_CHARACTERS = 6  # of the rest for each token of its windows, at most
LEAST_SUPERVISED = 16  # tokens of a window


@dataclass(frozen=True)
class Passage:
    """A session up to a cut, and the windows of what follows: its own task and the turns after the cut."""

    group: str
    before: Session
    windows: tuple[Window, ...]
    kept: bool = True

    def text(self, characters: int) -> str:
        """The document of the first part, as the service renders it."""
        return document_text(self.before, max_characters=characters)

    def chunks(self, base: Base, count: int, length: int) -> list[list[int]]:
        return in_chunks(self.text, base, count, length)


class Document(Protocol):
    """What an adapter is made of. `kept`: it is read again, and what was read stays on disk."""

    @property
    def kept(self) -> bool: ...

    def chunks(self, base: Base, count: int, length: int) -> list[list[int]]:
        """At most `count` chunks of `length` ids."""


def in_chunks(text: Callable[[int], str], base: Base, count: int, length: int) -> list[list[int]]:
    """`text` gives the document in at most so many characters: as many as `count` chunks of `length` ids hold."""
    affixes, characters = chunk_affixes(base.tokenizer, base.name), count * CHUNK_CHARACTERS
    while True:
        found = split_chunks(document_ids(base.tokenizer, base.name, text(characters)), length, affixes)
        if len(found) <= count or characters < CHUNK_CHARACTERS // 4:
            return found[:count]
        characters = characters * 4 // 5


@dataclass(frozen=True)
class Corpus:
    """Passages by group; `identity` changes when a file does."""

    groups: tuple[tuple[Passage, ...], ...]
    identity: str

    @property
    def passages(self) -> list[Passage]:
        return [passage for group in self.groups for passage in group]


def read_groups(folder: Path, tokenizer: Any, config: RestConfig, flag: str = "--data") -> Corpus:
    """Each sub-folder of canonical sessions (*.json) is a group, such as a repository. Sessions that nothing follows in
    are left out. Raises TrainingRefused where fewer than two groups are left."""
    digest, groups = hashlib.sha256(), []
    for group in sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []:
        found: list[Passage] = []
        for path in sorted(group.glob("*.json")):
            digest.update(path.read_bytes())
            try:
                session = load_session(path)
            except UNTRAINABLE:
                continue
            for share in config.cuts:
                passage = _passage(group.name, session, share, tokenizer, config)
                found += [passage] if passage else []
        groups += [tuple(found)] if found else []
    if len(groups) < 2:
        raise TrainingRefused(
            f"{flag}: {folder.name} holds {len(groups)} groups of sessions that go on after a cut: give a folder with "
            "a folder of canonical sessions (*.json) for each of two repositories or more."
        )
    return Corpus(tuple(groups), f"groups sha256:{digest.hexdigest()}")


def _passage(group: str, session: Session, share: float, tokenizer: Any, config: RestConfig) -> Passage | None:
    cut = _cut(session.steps, share)
    if not any(step.source == "agent" for step in session.steps[:cut]):
        return None
    after = _rest(session.steps, cut, REST_CHARACTERS * config.window_length * config.windows)
    try:
        prepared = prepare_windows(
            session.model_copy(update={"steps": after}),
            tokenizer,
            max_length=config.window_length,
            include_unsuccessful=True,
        )
    except UNTRAINABLE:
        return None
    windows = [window for window in prepared.windows if window.supervised_count >= LEAST_SUPERVISED]
    before = session.model_copy(update={"steps": session.steps[:cut], "outcome": "unknown"})
    return Passage(group, before, tuple(windows[: config.windows])) if windows else None


def _cut(steps: Sequence[Step], share: float) -> int:
    """The step that the rest begins with: the first after `share` of the session's characters."""
    sizes = [_size(step) for step in steps]
    limit, passed = share * sum(sizes), 0
    for index, size in enumerate(sizes):
        passed += size
        if passed >= limit:
            return index + 1
    return len(sizes)


def _rest(steps: Sequence[Step], cut: int, characters: int) -> tuple[Step, ...]:
    """What stands before the first answer (system and task), and steps from the cut on until there are enough."""
    first = next((index for index, step in enumerate(steps) if step.source == "agent"), len(steps))
    kept: list[Step] = []
    for step in steps[max(cut, first) :]:
        if characters <= 0:
            break
        kept.append(step)
        characters -= _size(step)
    return (*steps[: min(cut, first)], *kept)


def _size(step: Step) -> int:
    calls = sum(len(call.arguments) for call in step.tool_calls)
    return len(step.text) + calls + sum(len(item.content) for item in step.observations)
