"""One answer of the base model, with or without an adapter."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from transformers import StoppingCriteria, StoppingCriteriaList

from imprint_trainer.adapters.attach import attached
from imprint_trainer.errors import Cancelled, PromptRefused
from imprint_trainer.jobs.generated_text import Detokenizer, StopTexts
from imprint_trainer.jobs.prompt import prompt_of
from imprint_trainer.models.base import LoadedBase, Quantization
from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.models.scan import read_json
from imprint_trainer.protocol import ChatSpec

GREEDY: dict[str, Any] = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}


class Listener(StoppingCriteria):  # type: ignore[misc]
    """Told of each token. Passes the text on, ends the answer at a stop text, and raises Cancelled."""

    def __init__(
        self, spec: ChatSpec, base: LoadedBase, *, cancelled: Callable[[], bool], on_text: Callable[[str], None]
    ) -> None:
        self._ends = end_tokens(base)
        self._cancelled = cancelled
        self._on_text = on_text
        self._characters = Detokenizer(base.tokenizer)
        self._stops = StopTexts(spec.stop)
        self.text = ""

    @property
    def at_stop_text(self) -> bool:
        return self._stops.found

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        if self._cancelled():
            raise Cancelled
        token = int(input_ids[0, -1])
        if token not in self._ends:
            self._tell(self._stops.add(self._characters.add(token)))
        return torch.full((input_ids.shape[0],), self.at_stop_text, dtype=torch.bool, device=input_ids.device)

    def finish(self) -> None:
        """No token follows: what was held back is told."""
        if not self.at_stop_text:
            self._tell(self._stops.add(self._characters.rest()))
        if not self.at_stop_text:
            self._tell(self._stops.rest())

    def _tell(self, piece: str) -> None:
        if piece:
            self.text += piece
            self._on_text(piece)


def quantization_for(adapter_path: str | None) -> Quantization:
    """An adapter is tried on the base it was trained on: its training.json says how that was quantised."""
    record = Path(adapter_path) / "training.json" if adapter_path else None
    if record is None or not record.is_file():
        return "nf4"
    base_model = read_json(record).get("base_model")
    return "none" if isinstance(base_model, dict) and base_model.get("quantization") == "none" else "nf4"


@torch.inference_mode()
def chat(
    spec: ChatSpec, base: LoadedBase, *, cancelled: Callable[[], bool], on_text: Callable[[str], None]
) -> dict[str, Any]:
    """The contracts' `ChatResult`: greedy at temperature 0, else sampled with the seed alone.

    Raises Cancelled and PromptRefused.
    """
    prompt = prompt_of(spec, base)
    length = prompt["input_ids"].shape[1]
    room = int(getattr(base.model.config, "max_position_embeddings", 2**31)) - length
    if room < 1:
        raise PromptRefused(f"The prompt of {length} tokens is longer than the base model's context.")
    listener = Listener(spec, base, cancelled=cancelled, on_text=on_text)
    with seeded(spec.seed, base), attached_adapter(spec, base) as model:
        output = model.generate(
            **prompt,
            **sampling(spec),
            max_new_tokens=min(spec.max_tokens, room),
            use_cache=True,
            stopping_criteria=StoppingCriteriaList([listener]),
            pad_token_id=base.tokenizer.pad_token_id or base.tokenizer.eos_token_id,
        )[0, length:].tolist()
    listener.finish()
    stopped = listener.at_stop_text or (bool(output) and output[-1] in end_tokens(base))
    return {
        "text": listener.text,
        "finish_reason": "stop" if stopped else "length",
        "prompt_tokens": length,
        "completion_tokens": len(output),
    }


def sampling(spec: ChatSpec) -> dict[str, Any]:
    if spec.temperature == 0:
        return GREEDY
    return {"do_sample": True, "temperature": spec.temperature, "top_p": spec.top_p, "top_k": 0}


@contextmanager
def seeded(seed: int, base: LoadedBase) -> Iterator[None]:
    """Random numbers of the chat's own: those of a training go on as if it had not been."""
    devices = [base.device.index or 0] if base.device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed % 2**63)
        yield


def attached_adapter(spec: ChatSpec, base: LoadedBase) -> AbstractContextManager[CausalLM]:
    return attached(base, Path(spec.adapter_path)) if spec.adapter_path else nullcontext(base.model)


def end_tokens(base: LoadedBase) -> frozenset[int]:
    named = base.model.generation_config.eos_token_id
    ids = named if isinstance(named, list) else [named]
    return frozenset(token for token in (*ids, base.tokenizer.eos_token_id) if token is not None)
