"""The prompt of a chat: messages and tools as a training on the same conversation would show them. Imports no torch."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

from imprint_trainer.data.calls import FORMATS, tool_format
from imprint_trainer.data.render import rendered_conversation
from imprint_trainer.data.session import Observation, Step, ToolCall, ToolDefinition
from imprint_trainer.data.templates import Traits, chat_template, traits_of
from imprint_trainer.errors import BaseModelInvalid, ContextLengthExceeded, PromptRefused, TemplateUnsupported
from imprint_trainer.models.locate import load_tokenizer, locate_base, model_config, read_json
from imprint_trainer.protocol import ChatMessage, ChatSpec, NamedTool

if TYPE_CHECKING:
    from imprint_trainer.models.causal_lm import Quantization


SHRINKING = 4  # how much shorter a tokenizer's normalisation may make a text, generously


class PromptBase(Protocol):
    """What a prompt takes of a base model: no weights. `model` has `config` and `generation_config`."""

    @property
    def model(self) -> Any: ...
    @property
    def tokenizer(self) -> Any: ...
    @property
    def memo(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class BareBase:
    """A base model without its weights."""

    model: Any
    tokenizer: Any
    memo: dict[str, Any] = field(default_factory=dict)


def bare_base(path_or_hub_id: str) -> BareBase:
    """Raises BaseModelNotFound, BaseModelUnsafe, BaseModelInvalid."""
    from transformers import GenerationConfig

    folder = locate_base(path_or_hub_id).folder
    tokenizer = load_tokenizer(folder)
    config = model_config(folder)
    try:
        named = (folder / "generation_config.json").is_file()
        read = GenerationConfig.from_pretrained(folder) if named else GenerationConfig.from_model_config(config)
    except (ValueError, OSError, KeyError) as error:
        raise BaseModelInvalid(f"generation_config.json of {folder.name} cannot be read") from error
    return BareBase(SimpleNamespace(config=config, generation_config=read), tokenizer)


@dataclass(frozen=True)
class Prompt:
    """Token ids that the model goes on from: the prompt, `length` of them, and what its answer has to begin with.
    `tool_format` says how the answer's text holds calls and thoughts (None without tools and thoughts)."""

    ids: tuple[int, ...]
    length: int
    opening: str
    tool_format: str | None
    max_new_tokens: int


def prompt_of(spec: ChatSpec, base: PromptBase) -> Prompt:
    """`max_tokens` 0 asks for the prompt alone, however long. Raises PromptRefused, ContextLengthExceeded."""
    if spec.json_schema is not None:
        raise PromptRefused(
            "This engine has no grammars, so that it cannot hold an answer to a JSON schema: answers are plain text."
        )
    if not spec.messages:
        raise PromptRefused("There are no messages.")
    if spec.max_tokens != 0:
        room_after(least_tokens(spec, base), base)
    try:
        ids, (traits, form) = rendered(spec, base), known(base)
    except TemplateUnsupported as error:
        raise PromptRefused(str(error)) from error
    length, read = len(ids), form if spec.tools or thinks(form) else None
    if spec.max_tokens == 0:
        return Prompt(ids, length, "", read, 0)
    opening = opening_of(spec, form if traits.tool_list else "generic")
    begun = tuple(base.tokenizer(opening, add_special_tokens=False)["input_ids"]) if opening else ()
    room = room_after(length + len(begun), base)
    most = room if spec.max_tokens is None else max(1, min(spec.max_tokens - len(begun), room))
    return Prompt((*ids, *begun), length, opening, read, most)


def render(spec: ChatSpec, base: PromptBase) -> dict[str, Any]:
    """The contracts' `RenderedPrompt`: all that an engine without templates needs. Raises as `prompt_of` does."""
    prompt = prompt_of(spec, base)
    return {
        "tokens": list(prompt.ids),
        "prompt_tokens": prompt.length,
        "opening": prompt.opening,
        "tool_format": prompt.tool_format,
        "max_new_tokens": prompt.max_new_tokens,
        "context_length": context_length(base),
        "end_tokens": sorted(end_tokens(base)),
        "quantization": quantization_for(spec.adapter_path),
    }


def least_tokens(spec: ChatSpec, base: PromptBase) -> int:
    """Tokens that the messages have at least: what cannot fit is not tokenised, which takes a minute for 64 MiB."""
    if "longest_token" not in base.memo:
        base.memo["longest_token"] = max(len(token) for token in base.tokenizer.get_vocab())
    characters = sum(len(message.content) for message in spec.messages)
    return characters // (SHRINKING * int(base.memo["longest_token"]))


def context_length(base: PromptBase) -> int:
    return int(getattr(base.model.config.get_text_config(), "max_position_embeddings", 2**31))


def room_after(length: int, base: PromptBase) -> int:
    """Tokens that a prompt of this length leaves. Raises ContextLengthExceeded in words that agents look for."""
    context = context_length(base)
    if length >= context:
        raise ContextLengthExceeded(
            f"The prompt is too long: {length} tokens > {context - 1} maximum; "
            f"this model's maximum context length is {context} tokens."
        )
    return context - length


def end_tokens(base: PromptBase) -> frozenset[int]:
    named = base.model.generation_config.eos_token_id
    ids = named if isinstance(named, list) else [named]
    return frozenset(token for token in (*ids, base.tokenizer.eos_token_id) if token is not None)


def quantization_for(adapter_path: str | None) -> "Quantization":
    """An adapter is tried on the base it was trained on: its training.json says how that was quantised."""
    record = Path(adapter_path) / "training.json" if adapter_path else None
    if record is None or not record.is_file():
        return "nf4"
    base_model = read_json(record).get("base_model")
    return "none" if isinstance(base_model, dict) and base_model.get("quantization") == "none" else "nf4"


def rendered(spec: ChatSpec, base: PromptBase) -> tuple[int, ...]:
    """An adapter thinks aloud where it was trained to, a base model wherever its template lets it, unless told."""
    learned = learned_reasoning(Path(spec.adapter_path)) if spec.adapter_path else True
    return rendered_conversation(
        steps_of(spec.messages),
        [ToolDefinition(**tool.model_dump()) for tool in spec.tools],
        base.tokenizer,
        traits=known(base)[0],
        reasoning=learned if spec.enable_thinking is None else spec.enable_thinking,
        date=datetime.now(UTC),
    )


def learned_reasoning(adapter: Path) -> bool:
    """Whether the adapter was trained on recorded reasoning too."""
    record = read_json(adapter / "training.json") if (adapter / "training.json").is_file() else {}
    selection = record.get("selection")
    return isinstance(selection, dict) and selection.get("reasoning") is True


def known(base: PromptBase) -> tuple[Traits, str]:
    """What its chat template can express, and how it writes calls."""
    if "template" not in base.memo:
        template = chat_template(base.tokenizer, reasoning=False, date=None)
        traits = traits_of(template)
        base.memo["template"] = traits, tool_format(template, traits)
    found: tuple[Traits, str] = base.memo["template"]
    return found


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


def thinks(form: str) -> bool:
    """Whether every answer in this format may hold thoughts that are to be told from the rest."""
    return any("{thought}" in pattern for pattern in FORMATS[form].get("left_out", ()))


def opening_of(spec: ChatSpec, form: str) -> str:
    """Empty where no call has to be made; without a name where several tools may be called."""
    if not spec.tools or spec.tool_choice == "auto":
        return ""
    begins: str = FORMATS[form]["begins"]
    one = spec.tools[0].name if len(spec.tools) == 1 else None
    name = spec.tool_choice.name if isinstance(spec.tool_choice, NamedTool) else one
    return begins.replace("{name}", name) if name else begins.partition("{name}")[0]
