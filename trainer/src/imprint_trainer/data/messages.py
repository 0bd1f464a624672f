"""A canonical session as chat messages that a given template can render."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from imprint_trainer.data.codec import Codec
from imprint_trainer.data.edits import in_sight, said, squashed, targets
from imprint_trainer.data.session import Observation, Session, Step, ToolCall, ToolDefinition
from imprint_trainer.data.templates import Message, Traits, call, result
from imprint_trainer.errors import NothingToTrain

# Between two assistant turns, for templates that insist on alternation.
GO_ON: Message = {"role": "user", "content": "Continue."}


@dataclass(frozen=True)
class Unit:
    """One turn that windows never tear: a user message, or an assistant message and what came back from its calls."""

    step: int  # index into the session's steps
    messages: tuple[Message, ...]  # the first one is the turn itself
    supervised: bool
    request: bool = False  # a person asked for something
    targets: tuple[str, ...] = ()  # the texts that its edits replace, as far as the session showed them before
    called: tuple[str, ...] = ()  # names of tools

    @property
    def by_assistant(self) -> bool:
        return bool(self.messages[0]["role"] == "assistant")


@dataclass(frozen=True)
class Conversation:
    """The head (system text, tools, task) that every window starts with, and the turns that follow it."""

    system: str
    task: str
    tools: tuple[Message, ...]
    units: tuple[Unit, ...]
    dropped: tuple[str, ...] = field(default=())  # a reason for each turn left out


@dataclass(frozen=True)
class Writer:
    """How turns are written: with the template's own tool syntax, or as text (`native` false)."""

    codec: Codec
    traits: Traits
    native: bool
    reasoning: bool

    def agent_units(self, index: int, step: Step, supervised: bool, ordinal: Iterator[int]) -> Iterator[Unit]:
        """One unit, or one a call where the template takes a single call a turn."""
        text = self.spoken(step)
        calls = step.tool_calls
        if not self.native or not calls:
            messages = (self.assistant(step, text, calls), *self.answers_as_text(step))
            yield Unit(index, messages, supervised, targets=self.targets(step.text, calls), called=self.names(calls))
            return
        groups = [calls] if self.traits.parallel_calls else [(one,) for one in calls]
        strays = [item for item in step.observations if item.call_id not in {one.id for one in calls}]
        for place, group in enumerate(groups):
            numbers = [next(ordinal) for _ in group]
            rendered = [self.call(one, number) for one, number in zip(group, numbers, strict=True)]
            turn = self.assistant(step if place == 0 else None, text if place == 0 else "", ()) | {
                "tool_calls": rendered
            }
            results = [
                result(self.codec.hide(one.name), self.codec.hide(item.content), number)
                for one, number in zip(group, numbers, strict=True)
                for item in step.observations
                if item.call_id == one.id
            ]
            last = place == len(groups) - 1
            messages = (turn, *results, *(self.plain_results(strays) if last else ()))
            edited = self.targets(step.text if place == 0 else "", group)
            yield Unit(index, messages, supervised, targets=edited, called=self.names(group))

    def names(self, calls: Sequence[ToolCall]) -> tuple[str, ...]:
        return tuple(self.codec.hide(one.name) for one in calls)

    def targets(self, text: str, calls: Sequence[ToolCall]) -> tuple[str, ...]:
        return tuple(self.codec.hide(one) for one in targets(text, [call.arguments for call in calls]))

    def assistant(self, step: Step | None, text: str, calls: Sequence[ToolCall]) -> dict[str, Any]:
        blocks = [tool_call_block(self.codec.hide(one.name), self.value(one)) for one in calls]
        message = {"role": "assistant", "content": "\n".join(part for part in (text, *blocks) if part)}
        if step and step.reasoning and self.reasoning and self.traits.reasoning:
            message["reasoning_content"] = self.codec.hide(step.reasoning)
        return message

    def spoken(self, step: Step) -> str:
        """What the assistant says; its reasoning goes ahead as a `<think>` block where the template has no place."""
        text = self.codec.hide(step.text)
        if step.reasoning and self.reasoning and not self.traits.reasoning:
            return f"<think>\n{self.codec.hide(step.reasoning)}\n</think>\n\n{text}"
        return text

    def call(self, one: ToolCall, number: int) -> dict[str, Any]:
        value = self.value(one)
        if isinstance(value, str):
            if self.traits.text_arguments == "raw":
                value = json.dumps(value, ensure_ascii=False)
            elif self.traits.text_arguments == "refused":
                value = {"input": value}
        if isinstance(value, dict) and not self.traits.object_arguments:
            value = json.dumps(value, ensure_ascii=False)
        return call(self.codec.hide(one.name), value, number)

    def value(self, one: ToolCall) -> Any:
        """The arguments as an object where they are one, else their text."""
        parsed = json_object(one.arguments)
        return self.codec.hide(one.arguments) if parsed is None else self.codec.hide_all(parsed)

    def answers_as_text(self, step: Step) -> Iterator[Message]:
        called = {one.id for one in step.tool_calls}
        results = [item for item in step.observations if item.call_id in called]
        blocks = [f"<tool_response>\n{self.codec.hide(item.content)}\n</tool_response>" for item in results]
        if blocks:
            yield {"role": "user", "content": "\n".join(blocks)}
        yield from self.plain_results([item for item in step.observations if item.call_id not in called])

    def plain_results(self, items: Sequence[Observation]) -> Iterator[Message]:
        """What the environment said without being called: a user turn."""
        for item in items:
            yield {"role": "user", "content": self.codec.hide(item.content)}


def conversation(session: Session, writer: Writer, supervised: frozenset[int]) -> Conversation:
    """Head and turns of a session; `supervised` holds the indices of the steps to learn from. Raises NothingToTrain for
    a session without a task."""
    hide = writer.codec.hide
    opening = next((index for index, step in enumerate(session.steps) if step.source == "user"), None)
    systems = [step.text for step in session.steps[: opening or 0] if step.source == "system" and step.text.strip()]
    dropped = ["before_task"] * sum(step.source == "agent" for step in session.steps[: opening or 0])
    if opening is None:  # the system text is all the task there is
        opening = next((index for index, step in enumerate(session.steps) if step.source == "system"), None)
        if opening is None:
            raise NothingToTrain(f"The session {session.session_id} has no user turn, and so no task for its answers.")
        dropped = ["before_task"] * opening
    system, task = hide("\n\n".join(systems)), hide(session.steps[opening].text)
    units, empty = units_of(session.steps, opening + 1, writer, supervised)
    return Conversation(
        system=system,
        task=task,
        tools=tuple(tool(writer.codec, one) for one in session.tools),
        units=tuple(with_shown_targets(units, f"{system}\n{task}")),
        dropped=(*dropped, *empty),
    )


def units_of(
    steps: Sequence[Step], start: int, writer: Writer, supervised: frozenset[int]
) -> tuple[list[Unit], list[str]]:
    """The turns from step `start` on, and the reasons for those left out."""
    units: list[Unit] = []
    dropped: list[str] = []
    ordinal = iter(range(1, 10**9))
    for index, step in enumerate(steps[start:], start=start):
        if step.source != "agent":
            message = {"role": "user", "content": writer.codec.hide(step.text)}
            units.append(Unit(index, (message,), False, request=step.source == "user"))
        elif step.text.strip() or step.tool_calls or (writer.reasoning and step.reasoning):
            units += writer.agent_units(index, step, index in supervised, ordinal)
        else:
            dropped.append("empty_turn")
            units += [Unit(index, (message,), False) for message in writer.plain_results(step.observations)]
    return units, dropped


def takes_calls(steps: Sequence[Step], tools: Sequence[ToolDefinition], traits: Traits) -> bool:
    """Whether a template can write the calls of these steps in its own syntax, and lists the tools that they call."""
    beside = any(step.text.strip() for step in steps if step.tool_calls)
    return traits.calls and (traits.tool_list or not tools) and (traits.text_with_calls or not beside)


def with_shown_targets(units: Sequence[Unit], opening: str) -> Iterator[Unit]:
    """Of the texts that turns replace only those that the session showed before: of others nothing can be cut."""
    seen = squashed(opening) if any(unit.targets for unit in units) else ""
    for unit in units:
        yield replace(unit, targets=tuple(one for one in unit.targets if in_sight(one, seen)))
        if seen:
            seen += "".join(squashed(said(message)) for message in unit.messages)


def arranged(messages: Iterable[Message], traits: Traits) -> list[Message]:
    """The messages in an order that the template takes; assistant messages stay as they are, one by one."""
    result: list[Message] = []
    for message in messages:
        previous = result[-1] if result else None
        if not traits.alternates or previous is None or previous["role"] != message["role"]:
            result.append(message)
        elif message["role"] == "user":
            result[-1] = {"role": "user", "content": f"{previous['content']}\n\n{message['content']}"}
        elif message["role"] == "assistant":
            result += [GO_ON, message]
        else:
            result.append(message)
    return result


def head(system: str, task: str, traits: Traits) -> list[Message]:
    """The first messages; a template without a system role gets the system text ahead of the task."""
    if system and not traits.system:
        return [{"role": "user", "content": f"{system}\n\n{task}"}]
    opening: list[Message] = [{"role": "system", "content": system}] if system else []
    return [*opening, {"role": "user", "content": task}]


def tool(codec: Codec, definition: ToolDefinition) -> Message:
    function = {
        "name": definition.name,
        "description": definition.description or "",
        "parameters": definition.parameters or {"type": "object", "properties": {}},
    }
    return {"type": "function", "function": codec.hide_all(function)}


def tool_call_block(name: str, arguments: Any) -> str:
    call = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
    return f"<tool_call>\n{call}\n</tool_call>"


def json_object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
