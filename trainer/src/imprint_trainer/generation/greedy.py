"""Greedy answers to several prompts at once."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from transformers import StoppingCriteria, StoppingCriteriaList

from imprint_trainer.generation.prompt import end_tokens
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.models.causal_lm import CausalLM

GREEDY: dict[str, Any] = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}


class Interruptible(StoppingCriteria):  # type: ignore[misc]
    """Asked after each token; raises Cancelled, and never ends an answer itself."""

    def __init__(self, stop_if_cancelled: Callable[[], None]) -> None:
        self._stop_if_cancelled = stop_if_cancelled

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        self._stop_if_cancelled()
        return torch.zeros(input_ids.shape[0], dtype=torch.bool, device=input_ids.device)


@torch.inference_mode()
def generate(
    model: CausalLM,
    base: LoadedBase,
    prompts: Sequence[Sequence[int]],
    tokens: int,
    stop_if_cancelled: Callable[[], None],
) -> list[list[int]]:
    """For each prompt at most `tokens` tokens, without the one that ends the turn.

    Prompts are padded on the left. Raises Cancelled.
    """
    longest, ends = max(map(len, prompts)), end_tokens(base)
    padding = base.tokenizer.pad_token_id or base.tokenizer.eos_token_id or 0
    ids = [[padding] * (longest - len(prompt)) + list(prompt) for prompt in prompts]
    mask = [[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts]
    output = model.generate(
        input_ids=torch.tensor(ids, device=base.device),
        attention_mask=torch.tensor(mask, device=base.device),
        **GREEDY,
        max_new_tokens=tokens,
        use_cache=True,
        stopping_criteria=StoppingCriteriaList([Interruptible(stop_if_cancelled)]),
        pad_token_id=padding,
    )
    return [until(answer, ends) for answer in output[:, longest:].tolist()]


def until(answer: Sequence[int], ends: frozenset[int]) -> list[int]:
    return list(answer[: next((place for place, token in enumerate(answer) if token in ends), len(answer))])
