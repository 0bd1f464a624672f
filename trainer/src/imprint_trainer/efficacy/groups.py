"""Groups of recorded sessions: a folder for each repository, in it canonical sessions named in the order of time."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.data.session import Session, load_session
from imprint_trainer.data.sessions import UNTRAINABLE
from imprint_trainer.data.windows import Window
from imprint_trainer.evaluation.held_out import split, trained_turns
from imprint_trainer.protocol import StagedSession

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

LEAST_SUPERVISED = 300  # tokens: a session with fewer says too little to train or to test on


@dataclass(frozen=True)
class Recorded:
    path: Path
    session: Session
    windows: tuple[Window, ...]


@dataclass(frozen=True)
class Group:
    """Sessions of one repository, oldest first; the newest is the one that is tested on."""

    name: str
    sessions: tuple[Recorded, ...]

    @property
    def tested(self) -> Recorded:
        return self.sessions[-1]

    def before(self, count: int) -> tuple[Recorded, ...]:
        """The `count` sessions right before the tested one; fewer where there are not as many."""
        return self.sessions[max(0, len(self.sessions) - 1 - count) : -1]


def read_group(folder: Path, tokenizer: "PreTrainedTokenizerBase", *, max_length: int, most: int) -> Group:
    """The newest `most` sessions; those that cannot be trained, or teach too little, are left out."""
    found: list[Recorded] = []
    for path in sorted(folder.glob("*.json"), reverse=True):
        if len(found) == most:
            break
        try:
            session = load_session(path)
            prepared = prepare_windows(session, tokenizer, max_length=max_length, include_unsuccessful=True)
        except UNTRAINABLE:
            continue
        if prepared.supervised_tokens >= LEAST_SUPERVISED:
            found.append(Recorded(path, session, prepared.windows))
    return Group(folder.name, tuple(reversed(found)))


def tested_windows(
    group: Group, trained: Sequence[Recorded], tokenizer: "PreTrainedTokenizerBase", *, max_length: int
) -> tuple[Window, ...]:
    """Those of the tested session, without the turns that a trained one holds. Raises NothingToEvaluate."""
    staged = StagedSession(session_id=group.tested.session.session_id, path=str(group.tested.path))
    known = trained_turns([one.session for one in trained])
    return split([staged], known, tokenizer, max_length=max_length, reasoning=False).tested[0].windows
