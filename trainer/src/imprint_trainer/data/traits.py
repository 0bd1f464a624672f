"""What a chat template can express, found by rendering small conversations: never by a model's name."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from imprint_trainer.data.template import ChatTemplate, Message
from imprint_trainer.errors import TemplateUnsupported

USER: Message = {"role": "user", "content": "quokka"}
ANSWER: Message = {"role": "assistant", "content": "numbat"}
TOOL: Message = {
    "type": "function",
    "function": {
        "name": "wombat_tool",
        "description": "dingo",
        "parameters": {"type": "object", "properties": {"path": {"type": "string", "description": "emu"}}},
    },
}


@dataclass(frozen=True)
class Traits:
    system: bool  # a system message is rendered
    alternates: bool  # two user messages in a row are refused or lost
    calls: bool  # tool calls and their results are rendered
    text_with_calls: bool  # ... together with what the assistant says in the same turn
    parallel_calls: bool  # ... several in one turn
    object_arguments: bool  # arguments are passed as an object, else as JSON text
    text_arguments: Literal["quoted", "raw", "refused"]  # how the template writes arguments that are no JSON object
    tool_list: bool  # the list of tools is rendered
    reasoning: bool  # the reasoning of a last turn is rendered


def traits_of(template: ChatTemplate) -> Traits:
    """Probe a template. Raises TemplateUnsupported when it cannot render a plain question and answer."""
    plain = template.render([USER, ANSWER])
    if "quokka" not in plain or "numbat" not in plain:
        raise TemplateUnsupported("The base model's chat template leaves out what user or assistant say.")

    def shows(words: Sequence[str], *messages: Message, tools: Sequence[Message] = ()) -> bool:
        try:
            text = template.render(messages, tools)
        except TemplateUnsupported:
            return False
        return all(word in text for word in words)

    def shows_call(arguments: Any, word: str, *, text: str = "", count: int = 1) -> bool:
        names = [f"wombat_{index}" for index in range(count)]
        calls = [call(name, arguments, index) for index, name in enumerate(names)]
        results = [result(name, f"bilby_{name}", index) for index, name in enumerate(names)]
        turn = {"role": "assistant", "content": text, "tool_calls": calls}
        words = [*names, word]
        answered = [*words, *(f"bilby_{name}" for name in names), "numbat"]
        # What is said beside a call may vanish from history (gpt-oss), but not from the turn itself.
        return shows([*words, text], USER, turn) and shows(answered, USER, turn, *results, ANSWER)

    free, quoted = "*** potoroo", '"*** potoroo"'
    whole, written = {"path": "potoroo"}, '{"path": "potoroo"}'
    object_arguments = shows_call(whole, "potoroo")
    arguments = whole if object_arguments else written
    return Traits(
        system=shows(["cassowary", "quokka"], {"role": "system", "content": "cassowary"}, USER, ANSWER),
        alternates=not shows(["quokka", "galah", "numbat"], USER, {"role": "user", "content": "galah"}, ANSWER),
        calls=object_arguments or shows_call(written, "potoroo"),
        text_with_calls=shows_call(arguments, "potoroo", text="kookaburra"),
        parallel_calls=shows_call(arguments, "potoroo", count=2),
        object_arguments=object_arguments,
        text_arguments="quoted" if shows_call(free, quoted) else "raw" if shows_call(quoted, quoted) else "refused",
        tool_list=shows(["wombat_tool"], USER, ANSWER, tools=[TOOL]),
        reasoning=shows(["brolga"], USER, {**ANSWER, "reasoning_content": "brolga"}),
    )


def listing_tools(template: ChatTemplate, traits: Traits) -> ChatTemplate:
    """The template, with tools written as text where it lists none itself."""
    return template if traits.tool_list else replace(template, tools="system" if traits.system else "user")


def call(name: str, arguments: Any, ordinal: int = 0) -> dict[str, Any]:
    """A tool call as templates take it. Ids have nine digits: some templates insist on that length."""
    return {
        "type": "function",
        "id": f"{ordinal:09d}",
        "function": {"name": name, "arguments": arguments},
    }


def result(name: str, content: str, ordinal: int = 0) -> dict[str, Any]:
    return {"role": "tool", "name": name, "tool_call_id": f"{ordinal:09d}", "content": content}
