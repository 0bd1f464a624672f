"""Every recorded session at hand: the examples, and with a `shared` folder beside the checkout every session there."""

import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from data.families import tokenizer_of
from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.data.session import Session, Step, mended
from imprint_trainer.errors import NothingToTrain

ROOT = Path(__file__).parents[3]
FOLDERS = [folder for folder in (ROOT / "examples/sessions", ROOT.parent / "shared/sessions") if folder.is_dir()]
MAX_LENGTH = 4096


@cache
def recorded() -> tuple[Session, ...]:
    subprocess.run(["node", "node_modules/typescript/bin/tsc", "-b", "packages/sessions"], cwd=ROOT, check=True)
    command = ["node", "trainer/tests/data/canonical-sessions.mjs", *map(str, FOLDERS)]
    lines = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.decode().splitlines()
    return tuple(Session.model_validate_json(mended(line)) for line in lines)


@cache
def trainable() -> tuple[Session, ...]:
    return tuple(those_to_learn_from())


def those_to_learn_from() -> Iterator[Session]:
    """The sessions from which something is learned; the others are refused by name."""
    for session in recorded():
        try:
            prepare_windows(session, tokenizer_of("chatml"), max_length=MAX_LENGTH, include_unsuccessful=True)
        except NothingToTrain:
            assert not any(
                step.source == "agent" and not step.context_only and said_by(step) for step in answers(session)
            )
        else:
            yield session


def answers(session: Session) -> list[Step]:
    """The steps after the task: the first user turn, or the system text where there is none."""
    sources = [step.source for step in session.steps]
    opening = next((sources.index(source) for source in ("user", "system") if source in sources), len(sources))
    return list(session.steps[opening + 1 :])


def said_by(step: Step) -> bool:
    return bool(step.text.strip() or step.tool_calls)
