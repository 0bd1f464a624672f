"""The head that every window starts with: system text, tools and the task, made to leave room for answers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from imprint_trainer.data.codec import Codec
from imprint_trainer.data.messages import Conversation, head
from imprint_trainer.data.shorten import fair_shares, shortened
from imprint_trainer.data.template import ChatTemplate, Message
from imprint_trainer.data.traits import USER, Traits
from imprint_trainer.errors import NothingToTrain

HEAD_SHARE = 4  # every window repeats the head: at most this part of it
TOOLS_SHARE = 8  # of that, to the list of tools
SMALLEST_TASK = 24  # tokens: less says nothing
SMALLEST_ROOM = 16  # tokens that turns need beside the head


@dataclass(frozen=True)
class Head:
    messages: tuple[Message, ...]
    tools: tuple[Message, ...]
    tokens: int
    whole: int  # tokens that it would have uncut
    cuts: Counter[str]


def fitted_head(
    conversation: Conversation,
    *,
    template: ChatTemplate,
    traits: Traits,
    codec: Codec,
    max_length: int,
    body: int,
) -> Head:
    """At most a quarter of a window, or all that a session of `body` tokens leaves: then the tool list is cut down to
    the tools that were called, then to their names, then left out (over an eighth), and long texts lose their middle.

    Raises NothingToTrain when max_length leaves no room for an answer.
    """

    def length(messages: Sequence[Message], tools: Sequence[Message]) -> int:
        return codec.count(template.render(messages, tools))

    cuts: Counter[str] = Counter()
    system, task = conversation.system, conversation.task
    sizes = [codec.count(task), codec.count(system)]
    spare = max_length - body
    tools = next(
        tools
        for tools in tool_lists(conversation)
        if not tools or length([USER], tools) <= max(max_length // TOOLS_SHARE, spare - sum(sizes))
    )
    whole = length(head(system, task, traits), conversation.tools)
    if tools != conversation.tools:
        cuts["tools_shortened"] += 1
    frame = length(head("quokka" if system else "", "quokka", traits), tools)
    room = max(max(max_length // HEAD_SHARE, spare) - frame, SMALLEST_TASK)
    if sum(sizes) > room:
        limits = fair_shares(sizes, room)
        if sizes[0] > limits[0]:
            task = shortened(task, tokens=limits[0], codec=codec)
            cuts["task_shortened"] += 1
        if sizes[1] > limits[1]:
            system = shortened(system, tokens=limits[1], codec=codec)
            cuts["system_shortened"] += 1
    messages = head(system, task, traits)
    tokens = length(messages, tools)
    refuse_narrow(max_length, tokens, "the task")
    return Head(tuple(messages), tools, tokens, whole, cuts)


def refuse_narrow(max_length: int, taken: int, what: str) -> None:
    """Raises NothingToTrain where `taken` tokens of each window leave no room for turns."""
    if max_length - taken < SMALLEST_ROOM:
        raise NothingToTrain(
            f"max_length {max_length} leaves no room for an answer beside {what}: "
            f"raise it to {2 * (taken + SMALLEST_ROOM)} or more."
        )


def tool_lists(conversation: Conversation) -> list[tuple[Message, ...]]:
    """The tool list in shorter and shorter forms."""
    called = {name for unit in conversation.units for name in unit.called}
    used = tuple(tool for tool in conversation.tools if tool["function"]["name"] in called)
    bare = tuple({**tool, "function": named_only(tool["function"]["name"])} for tool in used)
    return [conversation.tools, used, bare, ()]


def named_only(name: str) -> Message:
    return {"name": name, "description": "", "parameters": {"type": "object", "properties": {}}}
