"""A recorded session as labelled entries: task, decisions, commands, and what came of them."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from imprint_trainer.data.session import Observation, Session, Step, ToolCall

Kind = Literal["user", "agent", "commands", "errors", "results", "outcome"]

_COMMANDS = ("command", "cmd", "script", "code", "input")
_PATHS = ("path", "file_path", "filename", "file", "notebook_path")
_LEFT_OUT = ("failed", "aborted", "refused", "edited", "synthetic")  # what these steps did is not to be learned
# What tools print that do not say themselves whether they failed
_SHOWS_ERROR = re.compile(
    r"^Traceback \(most recent call last\)|^(?:\w+: )?(?:error|fatal|panic)\b|^E  "
    r"|\bexit(?:ed with)?(?: status| code)? [1-9]",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True)
class Entry:
    """`text` is stripped and never empty."""

    kind: Kind
    label: str
    text: str


def entries_of(session: Session) -> list[Entry]:
    """In the session's order. System prompts, reasoning, and steps that went wrong are not among them."""
    return [entry for entry in _entries(session) if entry.text]


def unread_characters(session: Session) -> dict[str, int]:
    """What of a session no imprint reads: the agent's recorded reasoning, and steps that went wrong."""
    agent = [step for step in session.steps if step.source == "agent"]
    return {
        "reasoning": sum(len((step.reasoning or "").strip()) for step in agent if _counts(step)),
        "steps left out": sum(len(entry.text) for step in agent if not _counts(step) for entry in _agent_entries(step)),
    }


def _counts(step: Step) -> bool:
    return step.context_only not in _LEFT_OUT


def _entries(session: Session) -> Iterator[Entry]:
    asked = False
    for step in session.steps:
        if step.source == "user" and step.text.strip():
            yield Entry("user", "Request" if asked else "Task", step.text.strip())
            asked = True
        elif step.source == "agent" and _counts(step):
            yield from _agent_entries(step)
    if session.outcome == "success":
        yield Entry("outcome", "Outcome", (session.outcome_signal or "success").strip())


def _agent_entries(step: Step) -> Iterator[Entry]:
    yield Entry("agent", "Decision", step.text.strip())
    by_call = {observation.call_id: observation for observation in step.observations}
    for call in step.tool_calls:
        yield Entry("commands", "Command", command_line(call).strip())
        if call.id in by_call:
            yield _result(by_call[call.id])
    named = {call.id for call in step.tool_calls}
    for observation in step.observations:
        if observation.call_id not in named:
            yield _result(observation)


def _result(observation: Observation) -> Entry:
    failed = observation.is_error
    shown = failed or (failed is None and _SHOWS_ERROR.search(observation.content) is not None)
    return Entry("errors" if shown else "results", "Failed" if failed else "Result", observation.content.strip())


def command_line(call: ToolCall) -> str:
    """The shell command of a call that runs one, tool and path of one that touches a file, else its arguments."""
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return f"{call.name} {call.arguments.strip()}".strip()  # free text, such as a patch
    if not isinstance(arguments, dict):
        return f"{call.name} {call.arguments.strip()}".strip()
    for name in _COMMANDS:
        value = arguments.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return " ".join(value)
    rest = dict(arguments)
    path = next((rest.pop(name) for name in _PATHS if isinstance(rest.get(name), str)), None)
    words = [call.name, *([path] if path else []), *([_compact(rest)] if rest else [])]
    return " ".join(words)


def _compact(arguments: dict[str, object]) -> str:
    if len(arguments) == 1 and isinstance(value := next(iter(arguments.values())), str):
        return value.strip()
    return json.dumps(arguments, ensure_ascii=False)
