"""A recorded session as a document: task, decisions, commands, and what came of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from imprint_trainer.data.session import Observation, Session, Step
from imprint_trainer.doc_to_lora.command import command_line
from imprint_trainer.errors import NothingToTrain

DEFAULT_CHARACTERS = 8000  # about 2000 tokens
_ENTRY_LENGTHS = (1600, 800, 400, 200, 100)  # tried in turn until the document fits
_TASK_SHARE = 3  # at most a third of the document is the task
_LEFT_OUT = ("failed", "aborted", "synthetic")  # what these steps did is not to be learned


@dataclass(frozen=True)
class _Entry:
    label: str
    text: str

    def render(self, length: int) -> str:
        return f"{self.label}: {shorten(self.text, length)}"


def document_text(session: Session, *, max_characters: int = DEFAULT_CHARACTERS) -> str:
    """Deterministic and at most `max_characters` long: entries are shortened in their middle before any is left out,
    and those after the task go first. Raises NothingToTrain for a session that says nothing."""
    entries = list(_entries(session))
    if not entries:
        raise NothingToTrain(f"The session {session.session_id} holds no task, decision, command or result.")
    for length in _ENTRY_LENGTHS:
        text = _joined(entries, length, max_characters)
        if len(text) <= max_characters:
            return text
    return _without_middle(entries, max_characters)


def shorten(text: str, length: int) -> str:
    """At most `length` characters: beginning and end, with a mark between."""
    if len(text) <= length:
        return text
    mark = " [...] "
    kept = max(0, length - len(mark))
    return (text[: kept - kept // 2] + mark + text[len(text) - kept // 2 :])[:length]


def _entries(session: Session) -> Iterator[_Entry]:
    asked = False
    for step in session.steps:
        if step.source == "user" and step.text.strip():
            yield _Entry("Request" if asked else "Task", step.text.strip())
            asked = True
        elif step.source == "agent" and step.context_only not in _LEFT_OUT:
            yield from _agent_entries(step)
    if session.outcome == "success":
        yield _Entry("Outcome", session.outcome_signal or "success")


def _agent_entries(step: Step) -> Iterator[_Entry]:
    if step.text.strip():
        yield _Entry("Decision", step.text.strip())
    by_call = {observation.call_id: observation for observation in step.observations}
    for call in step.tool_calls:
        yield _Entry("Command", command_line(call))
        yield from _result(by_call.get(call.id))
    named = {call.id for call in step.tool_calls}
    for observation in step.observations:
        if observation.call_id not in named:
            yield from _result(observation)


def _result(observation: Observation | None) -> Iterator[_Entry]:
    """Tools say how it went in their last line."""
    lines = [] if observation is None else [line.strip() for line in observation.content.splitlines() if line.strip()]
    if observation is not None and lines:
        yield _Entry("Failed" if observation.is_error else "Result", lines[-1])


def _joined(entries: Sequence[_Entry], length: int, limit: int) -> str:
    task = max(length, limit // _TASK_SHARE)
    return "\n".join(entry.render(task if entry.label == "Task" else length) for entry in entries)


def _without_middle(entries: Sequence[_Entry], limit: int) -> str:
    """The first entry and as many of the last as fit."""
    head = entries[0].render(limit // _TASK_SHARE)
    tail: list[str] = []
    room = limit - len(head) - len(f"\n[{len(entries)} entries left out]")
    for entry in reversed(entries[1:]):
        text = entry.render(_ENTRY_LENGTHS[-1])
        if len(text) + 1 > room:
            break
        room -= len(text) + 1
        tail.insert(0, text)
    left_out = len(entries) - 1 - len(tail)
    return "\n".join([head, f"[{left_out} entries left out]", *tail])[:limit]
