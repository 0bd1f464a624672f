"""One answer of the base model, with or without an adapter."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from transformers import StoppingCriteria, StoppingCriteriaList

from imprint_trainer.adapters.attach import attached
from imprint_trainer.errors import Cancelled
from imprint_trainer.generation.greedy import GREEDY
from imprint_trainer.generation.prompt import end_tokens, prompt_of
from imprint_trainer.generation.text import Detokenizer, StopTexts
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.protocol import ChatSpec


class Listener(StoppingCriteria):  # type: ignore[misc]
    """Told of each token. Passes the text on, ends the answer at a stop text, and raises Cancelled."""

    def __init__(
        self,
        spec: ChatSpec,
        base: LoadedBase,
        *,
        with_calls: bool,
        cancelled: Callable[[], bool],
        on_text: Callable[[str], None],
    ) -> None:
        self._ends = end_tokens(base)
        self._cancelled = cancelled
        self._on_text = on_text
        self._characters = Detokenizer(base.tokenizer, special=with_calls)
        self._stops = StopTexts(spec.stop)
        self.text = ""

    @property
    def stop_text(self) -> str | None:
        return self._stops.found

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        if self._cancelled():
            raise Cancelled
        token = int(input_ids[0, -1])
        if token not in self._ends:
            self._tell(self._stops.add(self._characters.add(token)))
        return torch.full((input_ids.shape[0],), self.stop_text is not None, dtype=torch.bool, device=input_ids.device)

    def begin(self, opening: str) -> None:
        """What the answer begins with, before the first token."""
        self._tell(opening)

    def finish(self) -> None:
        """No token follows: what was held back is told."""
        if self.stop_text is None:
            self._tell(self._stops.add(self._characters.rest()))
        if self.stop_text is None:
            self._tell(self._stops.rest())

    def _tell(self, piece: str) -> None:
        if piece:
            self.text += piece
            self._on_text(piece)


@torch.inference_mode()
def chat(
    spec: ChatSpec,
    base: LoadedBase,
    *,
    cancelled: Callable[[], bool],
    on_prompt: Callable[[dict[str, Any]], None],
    on_text: Callable[[str], None],
) -> dict[str, Any]:
    """The contracts' `ChatResult`: greedy at temperature 0, else sampled with the seed alone. `on_prompt` is told the
    contracts' `ChatPrompt` once nothing is left to refuse.

    Raises Cancelled, ContextLengthExceeded and PromptRefused.
    """
    prompt = prompt_of(spec, base)
    length = prompt.length
    if spec.max_tokens == 0:
        return result_of("", "length", None, prompt=length, completion=0)
    on_prompt({"prompt_tokens": length, "tool_format": prompt.tool_format})
    ids = torch.tensor([prompt.ids], device=base.device)
    listener = Listener(spec, base, with_calls=prompt.tool_format is not None, cancelled=cancelled, on_text=on_text)
    listener.begin(prompt.opening)
    with seeded(spec.seed, base), attached_adapter(spec, base) as model:
        output = model.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            **sampling(spec),
            max_new_tokens=prompt.max_new_tokens,
            use_cache=True,
            stopping_criteria=StoppingCriteriaList([listener]),
            pad_token_id=base.tokenizer.pad_token_id or base.tokenizer.eos_token_id,
        )[0, length:].tolist()
    listener.finish()
    stopped = listener.stop_text is not None or (bool(output) and output[-1] in end_tokens(base))
    return result_of(
        listener.text, "stop" if stopped else "length", listener.stop_text, prompt=length, completion=len(output)
    )


def result_of(text: str, finish_reason: str, stop_text: str | None, *, prompt: int, completion: int) -> dict[str, Any]:
    return {
        "text": text,
        "finish_reason": finish_reason,
        "stop_text": stop_text,
        "prompt_tokens": prompt,
        "completion_tokens": completion,
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
