"""The canonical session, as `packages/contracts/src/session.ts` defines it, read from its file."""

import json
import re
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from imprint_trainer.errors import NothingToTrain, SessionInvalid

# Programs that cut text in UTF-16 leave half characters; JSON keeps them as escapes that UTF-8 cannot hold.
HALF_CHARACTER_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
HALF_CHARACTER = re.compile("[\ud800-\udfff]")


class Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class ToolDefinition(Strict):
    name: str = Field(min_length=1)
    description: str | None = None
    parameters: Any = None


class ToolCall(Strict):
    id: str
    name: str
    arguments: str


class Observation(Strict):
    call_id: str | None
    content: str
    is_error: bool | None = None


class Step(Strict):
    source: Literal["system", "user", "agent"]
    text: str
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    observations: tuple[Observation, ...] = ()
    context_only: Literal["failed", "weight_zero", "aborted", "refused", "edited", "synthetic", "copied"] | None = None
    timestamp: str | None = None


class Source(Strict):
    format: str
    format_version: str | None
    agent: str | None
    model: str | None
    folder: str | None = None
    repository: str | None = None
    branch: str | None = None
    provider: str | None = None
    sha256: str


class Parent(Strict):
    """The session that another one came from, by its tool's own id."""

    session_id: str
    kinship: Literal["fork", "sub-agent"]


class Counted(Strict):
    """What an importer left out, and how often."""

    reason: str
    count: int = Field(ge=1)


class Redaction(Strict):
    kind: str
    count: int = Field(ge=1)


class Session(Strict):
    schema_version: Literal[1]
    session_id: str
    source: Source
    task_type: str | None
    outcome: Literal["success", "failure", "unknown"]
    outcome_signal: str | None
    started_at: str | None
    parent: Parent | None = None
    tools: tuple[ToolDefinition, ...]
    steps: tuple[Step, ...]
    bad_lines: int = Field(ge=0)
    dropped: tuple[Counted, ...]
    redactions: tuple[Redaction, ...]


def load_session(path: str | Path) -> Session:
    """Read a session file.

    Raises SessionInvalid, naming the field, for a file that is torn, not JSON or of another shape or version, and
    NothingToTrain for a session without steps.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:  # without the folder that its words name
        raise SessionInvalid(f"The session file {path.name} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SessionInvalid(f"The session file {path.name} cannot be read: {error}.") from error
    try:
        session = Session.model_validate_json(mended(text))
    except ValidationError as error:
        raise SessionInvalid(f"The session file {path.name} is invalid: {first_fault(error)}.") from error
    except (ValueError, RecursionError) as error:
        raise SessionInvalid(f"The session file {path.name} is not JSON: {error}.") from error
    if not session.steps:
        raise NothingToTrain(f"The session {session.session_id} has no steps.")
    return session


def mended(text: str) -> str:
    """The JSON text with half characters replaced by U+FFFD."""
    if not HALF_CHARACTER_ESCAPE.search(text):
        return text
    return HALF_CHARACTER.sub("\ufffd", json.dumps(json.loads(text), ensure_ascii=False))


def first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in fault["loc"])
    return f"{place}: {fault['msg']}" if place else fault["msg"]
