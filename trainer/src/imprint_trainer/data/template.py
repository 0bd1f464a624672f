"""The base model's chat template as a function from messages to text, the same at every call."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from jinja2.exceptions import TemplateError

from imprint_trainer.data.tool_prompt import with_tool_prompt
from imprint_trainer.errors import TemplateUnsupported

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

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
        """The conversation as the model sees it when it starts to answer, in the ways the template offers."""
        ways = (self.reasoning, not self.reasoning)
        found = [self.render(messages, tools, add_generation_prompt=True, enable_thinking=way) for way in ways]
        return list(dict.fromkeys(found))


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
