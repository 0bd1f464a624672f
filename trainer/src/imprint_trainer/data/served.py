"""A conversation that is to be answered, as the tokens that a training on its recording has before the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from imprint_trainer.data.codec import codec_for
from imprint_trainer.data.messages import Writer, arranged, head, takes_calls, tool, units_of
from imprint_trainer.data.session import Step, ToolDefinition
from imprint_trainer.data.template import ChatTemplate, Message, chat_template
from imprint_trainer.data.traits import USER, Traits, call, listing_tools, traits_of
from imprint_trainer.errors import TemplateUnsupported

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# What calls begin with, and the names of the service's parsers (`packages/server/src/chat/tool-calls/formats.ts`).
MARKS: Mapping[str, str] = {
    "<start_function_call>": "functiongemma",
    "<|tool_call>": "gemma4",
    "[TOOL_CALLS]": "mistral",
    "<|tool_call|>": "granite",
    "<function=": "qwen3-coder",
    "<tool_call>": "hermes",
    "<|python_tag|>": "llama3",
    '"parameters": {': "llama3",
}


@dataclass(frozen=True)
class Rendered:
    """Token ids of a prompt, and how the answer holds calls."""

    ids: tuple[int, ...]
    tool_format: str


def rendered_conversation(
    steps: Sequence[Step],
    tools: Sequence[ToolDefinition],
    tokenizer: "PreTrainedTokenizerBase",
    *,
    traits: Traits | None = None,
    reasoning: bool = False,
    date: datetime | None = None,
    add_generation_prompt: bool = True,
) -> Rendered:
    """The prompt of the answer that comes after `steps`: what windows show before that answer, where nothing is cut.

    `date`: today's, for templates that ask for it. Raises TemplateUnsupported, BaseModelInvalid.
    """
    plain = chat_template(tokenizer, reasoning=reasoning, date=date)
    traits = traits or traits_of(plain)
    template = listing_tools(plain, traits)
    codec = codec_for(tokenizer, [text.model_dump_json() for text in (*steps, *tools)])
    shown = tuple(tool(codec, one) for one in tools)

    def text(*, native: bool) -> str:
        messages = messages_of(steps, Writer(codec, traits, native, reasoning))
        return template.render(arranged(messages, traits), shown, add_generation_prompt=add_generation_prompt)

    try:
        prompt = text(native=takes_calls(steps, tools, traits))
    except TemplateUnsupported:
        if not any(step.tool_calls for step in steps):
            raise
        prompt = text(native=False)
    return Rendered(codec.encode(prompt).ids, tool_format(plain, traits))


def messages_of(steps: Sequence[Step], writer: Writer) -> list[Message]:
    """Head and turns. What an assistant says ahead of the task, which trainings leave out, stays."""
    spoken = next((index for index, step in enumerate(steps) if step.source != "system"), len(steps))
    system = writer.codec.hide("\n\n".join(step.text for step in steps[:spoken] if step.text.strip()))
    asked = spoken < len(steps) and steps[spoken].source == "user"
    opening: list[Message] = []
    if asked:
        opening = head(system, writer.codec.hide(steps[spoken].text), writer.traits)
    elif system:
        with_role = writer.traits.system and spoken < len(steps)  # alone it is the task
        opening = [{"role": "system" if with_role else "user", "content": system}]
    units, _ = units_of(steps, spoken + asked, writer, frozenset())
    return [*opening, *(message for unit in units for message in unit.messages)]


def tool_format(template: ChatTemplate, traits: Traits) -> str:
    """How a model that is given tools writes calls, found in what its template writes of one."""
    if not (traits.tool_list and traits.calls):
        return "generic"
    arguments = {"path": "potoroo"} if traits.object_arguments else '{"path": "potoroo"}'
    turn = {"role": "assistant", "content": "", "tool_calls": [call("wombat_tool", arguments)]}
    written = template.render([USER, turn])
    return next((name for mark, name in MARKS.items() if mark in written), "generic")
