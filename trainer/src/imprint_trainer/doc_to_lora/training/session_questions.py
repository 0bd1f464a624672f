"""Training data from recorded sessions: the document that the service would make, and questions that it answers.

Only what the session itself settles is asked: its task, its last command and what that printed, its outcome.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from imprint_trainer.data.session import Session, load_session
from imprint_trainer.doc_to_lora.command import command_line
from imprint_trainer.doc_to_lora.document import document_text
from imprint_trainer.doc_to_lora.training.refusal import TrainingRefused
from imprint_trainer.doc_to_lora.training.synthetic import Example
from imprint_trainer.errors import TrainerError

MAX_ANSWER = 120  # characters
MAX_DOCUMENT = 8000  # characters: what a training step holds of one document
WORDINGS = {
    "task": ("What was the task?", "What were you asked to do?", "Which task was this session about?"),
    "command": ("Which command passed at the end?", "What was the last command that worked?"),
    "result": ("What did the last command print?", "How did the last command end?"),
    "outcome": ("What was the outcome?", "How do we know that the work is done?"),
}


def read_sessions(folder: Path) -> tuple[list[list[Example]], str]:
    """The examples of each session of the folder's *.json, and a SHA-256 over the files.

    Raises TrainingRefused for a session that cannot be read, and when no session answers a question.
    """
    digest = hashlib.sha256()
    documents = []
    for path in sorted(folder.glob("*.json")):
        try:
            examples = session_examples(load_session(path))
        except TrainerError as error:
            raise TrainingRefused(f"--data: {path.name}: {error.message} {error.hint}") from None
        digest.update(path.read_bytes())
        if examples:
            documents.append(examples)
    if not documents:
        raise TrainingRefused(
            f"--data: {folder.name} holds no canonical session (*.json) that answers a question: import some first."
        )
    return documents, digest.hexdigest()


def session_examples(session: Session) -> list[Example]:
    """Questions whose answers stand, word for word, in the session's document; empty when there are none."""
    document = document_text(session, max_characters=MAX_DOCUMENT)
    return [
        Example(document, question, answer, f"session {kind}")
        for kind, answer in _answers(session)
        if len(answer) <= MAX_ANSWER and answer in document
        for question in WORDINGS[kind]
    ]


def _answers(session: Session) -> Iterator[tuple[str, str]]:
    task = next((step.text for step in session.steps if step.source == "user" and step.text.strip()), "")
    if task:
        yield "task", task.strip().splitlines()[0].strip()
    yield from _last_command(session)
    if session.outcome == "success" and session.outcome_signal:
        yield "outcome", session.outcome_signal


def _last_command(session: Session) -> Iterator[tuple[str, str]]:
    """The last call of a step that counts whose tool reported no error, and the last line of its output."""
    for step in reversed(session.steps):
        if step.source != "agent" or step.context_only is not None:
            continue
        results = {observation.call_id: observation for observation in step.observations}
        for call in reversed(step.tool_calls):
            result = results.get(call.id)
            if result is None or result.is_error:
                continue
            yield "command", command_line(call)
            printed = [line.strip() for line in result.content.splitlines() if line.strip()]
            if printed:
                yield "result", printed[-1]
            return
