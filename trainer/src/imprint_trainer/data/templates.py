"""The base model's chat template: what it can express, and messages as text, the same at every call.

Traits are found by rendering small conversations, never by a model's name. A template that lists no tools gets them as
text, in the words of Qwen 2.5's (`docs/serving.md`); calls and results then stand in the messages' text as
`data/messages.py` writes them.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from os.path import commonprefix
from typing import TYPE_CHECKING, Any, Literal

from jinja2.exceptions import TemplateError

from imprint_trainer.errors import TemplateUnsupported

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


PROMPT = """# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
{tools}
</tools>

For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{{"name": <function-name>, "arguments": <args-json-object>}}
</tool_call>"""


UNSAID = ("", {"type": "object", "properties": {}})  # a description and parameters that say nothing


def tool_prompt(tools: Sequence[Mapping[str, Any]]) -> str:
    """What a tool has no words for is left out: windows often have room for names alone."""
    shown = [{**tool, "function": {k: v for k, v in tool["function"].items() if v not in UNSAID}} for tool in tools]
    return PROMPT.format(tools="\n".join(json.dumps(tool, ensure_ascii=False) for tool in shown))


def with_tool_prompt(
    messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], *, system: bool
) -> list[Mapping[str, Any]]:
    """The prompt at the end of the system text, or ahead of the first request of a template without system role."""
    text, role = tool_prompt(tools), "system" if system else "user"
    if not messages or messages[0]["role"] != role:
        return [{"role": role, "content": text}, *messages]
    first, *rest = messages
    parts = (first["content"], text) if system else (text, first["content"])
    return [{**first, "content": "\n\n".join(parts)}, *rest]


Message = Mapping[str, Any]

CLOCK_CALL = re.compile(r"strftime_now\(\s*(?:\"([^\"]*)\"|'([^']*)')")
UNDATED = datetime(2026, 1, 1)  # noqa: DTZ001  stands in for sessions without a start time


@dataclass(frozen=True)
class ChatTemplate:
    """Renders messages; `reasoning` tells templates that know `enable_thinking` whether the model thinks aloud.

    `tools` names the message that lists tools where the template itself does not.
    """

    tokenizer: "PreTrainedTokenizerBase"
    sources: Mapping[bool, str]  # with tools, without tools
    reasoning: bool
    tools: Literal["system", "user"] | None = None

    def render(self, messages: Sequence[Message], tools: Sequence[Message] = (), **options: Any) -> str:
        """The text of a conversation. Raises TemplateUnsupported with the template's own words when it refuses."""
        if tools and self.tools:
            messages, tools = with_tool_prompt(messages, tools, system=self.tools == "system"), ()
        try:
            text = self.tokenizer.apply_chat_template(
                [dict(message) for message in messages],
                tools=[dict(tool) for tool in tools] or None,
                chat_template=self.sources[bool(tools)],
                tokenize=False,
                **{"enable_thinking": self.reasoning, **options},
            )
        except (TemplateError, TypeError, ValueError, LookupError, AttributeError) as error:
            raise TemplateUnsupported(f"The base model's chat template refuses this conversation: {error}.") from error
        return str(text)

    def prompts(self, messages: Sequence[Message], tools: Sequence[Message] = ()) -> list[str]:
        """The conversation as the model sees it when it starts to answer, in the ways the template offers: the other
        way of thinking counts where it changes what opens the answer alone, and not what stands before (Gemma 4)."""
        ways = (self.reasoning, not self.reasoning)
        own, other = (self.render(messages, tools, add_generation_prompt=True, enable_thinking=way) for way in ways)
        shown = commonprefix([self.render(messages, tools), own])
        return [own, other] if other != own and other.startswith(shown) else [own]


def chat_template(tokenizer: "PreTrainedTokenizerBase", *, reasoning: bool, date: datetime | None) -> ChatTemplate:
    """The tokenizer's template with its clock stopped at `date`: the same session gives the same text on any day.

    Raises TemplateUnsupported when the tokenizer has no chat template.
    """
    if not tokenizer.chat_template:
        raise TemplateUnsupported(
            "The base model's tokenizer has no chat template: choose an instruct model, or add chat_template.jinja."
        )
    sources = {}
    for tools in (False, True):
        try:
            sources[tools] = stopped(tokenizer.get_chat_template(None, [{}] if tools else None), date or UNDATED)
        except ValueError as error:
            raise TemplateUnsupported(f"The base model's chat template cannot be chosen: {error}.") from error
    return ChatTemplate(tokenizer=tokenizer, sources=sources, reasoning=reasoning)


def stopped(source: str, date: datetime) -> str:
    formats = {double or single for double, single in CLOCK_CALL.findall(source)}
    if not formats:
        return source
    dates = {form: date.strftime(form) for form in sorted(formats)}
    return f"{{% macro strftime_now(form) %}}{{{{ {dates!r}[form] }}}}{{% endmacro %}}{{{{ '' }}}}{source}"


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
    return {"type": "function", "id": f"{ordinal:09d}", "function": {"name": name, "arguments": arguments}}


def result(name: str, content: str, ordinal: int = 0) -> dict[str, Any]:
    return {"role": "tool", "name": name, "tool_call_id": f"{ordinal:09d}", "content": content}
