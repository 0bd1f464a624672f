"""The prompt of a chat: messages and tools as a training on the same conversation would show them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import torch

from imprint_trainer.data.served import Rendered, rendered_conversation
from imprint_trainer.data.session import Observation, Step, ToolCall, ToolDefinition
from imprint_trainer.data.template import chat_template
from imprint_trainer.data.traits import Traits, traits_of
from imprint_trainer.errors import PromptRefused, TemplateUnsupported
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.models.scan import read_json
from imprint_trainer.protocol import ChatMessage, ChatSpec


@dataclass(frozen=True)
class Prompt:
    """The tokens that the model answers to, and how the answer's text holds calls (None without tools)."""

    inputs: dict[str, torch.Tensor]
    tool_format: str | None


def prompt_of(spec: ChatSpec, base: LoadedBase) -> Prompt:
    """Raises PromptRefused."""
    if not spec.messages:
        raise PromptRefused("There are no messages.")
    try:
        found = rendered(spec, base)
    except TemplateUnsupported as error:
        raise PromptRefused(str(error)) from error
    ids = torch.tensor([found.ids], device=base.device)
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    return Prompt(inputs, found.tool_format if spec.tools else None)


def rendered(spec: ChatSpec, base: LoadedBase) -> Rendered:
    """An adapter thinks aloud where it was trained to; a base model wherever its template lets it."""
    return rendered_conversation(
        steps_of(spec.messages),
        [ToolDefinition(**tool.model_dump()) for tool in spec.tools],
        base.tokenizer,
        traits=traits_for(base),
        reasoning=learned_reasoning(Path(spec.adapter_path)) if spec.adapter_path else True,
        date=datetime.now(UTC),
    )


def learned_reasoning(adapter: Path) -> bool:
    """Whether the adapter was trained on recorded reasoning too."""
    record = read_json(adapter / "training.json") if (adapter / "training.json").is_file() else {}
    selection = record.get("selection")
    return isinstance(selection, dict) and selection.get("reasoning") is True


def traits_for(base: LoadedBase) -> Traits:
    if "traits" not in base.memo:
        base.memo["traits"] = traits_of(chat_template(base.tokenizer, reasoning=False, date=None))
    traits: Traits = base.memo["traits"]
    return traits


def steps_of(messages: Sequence[ChatMessage]) -> list[Step]:
    """The messages as a session has them: results stand with the turn that made their call."""
    steps: list[Step] = []
    for message in messages:
        if message.role == "tool":
            place = caller_of(message, steps)
            result = Observation(call_id=message.tool_call_id, content=message.content)
            steps[place] = steps[place].model_copy(update={"observations": (*steps[place].observations, result)})
        else:
            calls = tuple(ToolCall(**call.model_dump()) for call in message.tool_calls)
            source = "agent" if message.role == "assistant" else message.role
            steps.append(Step(source=source, text=message.content, tool_calls=calls))
    return steps


def caller_of(message: ChatMessage, steps: Sequence[Step]) -> int:
    for place in range(len(steps) - 1, -1, -1):
        if message.tool_call_id in {call.id for call in steps[place].tool_calls}:
            return place
    raise PromptRefused("Field messages holds a result of a call that no message before it makes: leave it out.")
