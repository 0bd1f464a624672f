"""One answer of the base model, with or without an adapter."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from transformers import StoppingCriteria, StoppingCriteriaList

from imprint_trainer.adapters.attach import attached
from imprint_trainer.errors import Cancelled, TrainerError
from imprint_trainer.models.base import LoadedBase, Quantization
from imprint_trainer.models.scan import read_json
from imprint_trainer.protocol import ChatSpec


class PromptRefusedError(TrainerError, ValueError):
    """The messages cannot be answered."""


class StopWhenCancelled(StoppingCriteria):  # type: ignore[misc]
    """Asked after each token. Raises Cancelled: what was generated so far is of no use to anyone."""

    def __init__(self, cancelled: Callable[[], bool]) -> None:
        self._cancelled = cancelled

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        if self._cancelled():
            raise Cancelled
        return torch.zeros(input_ids.shape[0], dtype=torch.bool, device=input_ids.device)


def quantization_for(spec: ChatSpec) -> Quantization:
    """An adapter is tried on the base it was trained on: its training.json says how that was quantised."""
    record = Path(spec.adapter_path) / "training.json" if spec.adapter_path else None
    if record is None or not record.is_file():
        return "nf4"
    base_model = read_json(record).get("base_model")
    return "none" if isinstance(base_model, dict) and base_model.get("quantization") == "none" else "nf4"


@torch.inference_mode()
def chat(spec: ChatSpec, base: LoadedBase, cancelled: Callable[[], bool]) -> dict[str, Any]:
    """The contracts' `ChatResult`: greedy at temperature 0, else sampled with the seed alone. Raises Cancelled."""
    prompt = base.tokenizer.apply_chat_template(
        [message.model_dump() for message in spec.messages],
        add_generation_prompt=True,
        return_tensors="pt",
        return_dict=True,
    ).to(base.device)
    length = prompt["input_ids"].shape[1]
    room = int(getattr(base.model.config, "max_position_embeddings", 2**31)) - length
    if not spec.messages or room < 1:
        raise PromptRefusedError(
            "there are no messages" if not spec.messages else f"the prompt of {length} tokens is too long"
        )
    torch.manual_seed(spec.seed % 2**63)
    sampling: dict[str, Any] = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
    if spec.temperature > 0:
        sampling = {"do_sample": True, "temperature": spec.temperature, "top_p": 1.0, "top_k": 0}
    with attached(base, Path(spec.adapter_path)) if spec.adapter_path else nullcontext(base.model) as model:
        output = model.generate(
            **prompt,
            **sampling,
            max_new_tokens=min(spec.max_tokens, room),
            use_cache=True,
            stopping_criteria=StoppingCriteriaList([StopWhenCancelled(cancelled)]),
            pad_token_id=base.tokenizer.pad_token_id or base.tokenizer.eos_token_id,
        )[0, length:].tolist()
    ends = end_tokens(base)
    stopped = bool(output) and output[-1] in ends
    return {
        "text": base.tokenizer.decode(output[:-1] if stopped else output, skip_special_tokens=True),
        "finish_reason": "stop" if stopped else "length",
        "prompt_tokens": length,
        "completion_tokens": len(output),
    }


def end_tokens(base: LoadedBase) -> frozenset[int]:
    named = base.model.generation_config.eos_token_id
    ids = named if isinstance(named, list) else [named]
    return frozenset(token for token in (*ids, base.tokenizer.eos_token_id) if token is not None)
