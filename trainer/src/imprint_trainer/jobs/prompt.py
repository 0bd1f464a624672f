"""The prompt of a chat: messages and tools through the base model's own chat template."""

from typing import Any

import torch
from jinja2.exceptions import TemplateError

from imprint_trainer.data.template import chat_template
from imprint_trainer.data.traits import traits_of
from imprint_trainer.errors import PromptRefused
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.protocol import ChatSpec, ChatTool


def prompt_of(spec: ChatSpec, base: LoadedBase) -> dict[str, torch.Tensor]:
    """The tokens that the model answers to. Raises PromptRefused."""
    if not spec.messages:
        raise PromptRefused("There are no messages.")
    if spec.tools and not takes_tools(base):
        raise PromptRefused("The base model's chat template has no place for tools: leave tools out.")
    try:
        prompt = base.tokenizer.apply_chat_template(
            [message.model_dump() for message in spec.messages],
            tools=[template_tool(tool) for tool in spec.tools] or None,
            add_generation_prompt=True,
            return_tensors="pt",
            return_dict=True,
        )
    except (TemplateError, TypeError, ValueError, LookupError, AttributeError) as error:
        raise PromptRefused(f"The base model's chat template refuses these messages: {error}.") from error
    return dict(prompt.to(base.device))


def takes_tools(base: LoadedBase) -> bool:
    if "takes_tools" not in base.memo:
        template = chat_template(base.tokenizer, reasoning=False, date=None)
        base.memo["takes_tools"] = traits_of(template).tool_list
    return bool(base.memo["takes_tools"])


def template_tool(tool: ChatTool) -> dict[str, Any]:
    function = tool.model_dump(exclude_none=True)
    return {"type": "function", "function": function}
