"""Attention of windows that lie one behind the other in one row of tokens: each within itself."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.models.sections import decoder_of

NAME = "imprint_windows"
LENGTHS = "window_lengths"  # the keyword by which a decoder hands them down to its attention


def windows_attention(module: Any, query: Tensor, key: Tensor, value: Tensor, _: Any, **options: Any) -> Any:
    """As transformers' interface has it: query, key, value [1, heads, n, d] -> [1, n, heads, d]."""
    lengths = options.pop(LENGTHS)
    parts = zip(*(torch.split(states, lengths, dim=2) for states in (query, key, value)), strict=True)
    found = [sdpa_attention_forward(module, *part, None, **options)[0] for part in parts]
    return torch.cat(found, dim=1), None


AttentionInterface.register(NAME, windows_attention)
AttentionMaskInterface.register(NAME, lambda *_, **__: None)


def keeps_windows_apart(model: CausalLM) -> bool:
    """Whether `read_windows` does: decoders in which tokens meet in causal attention alone."""
    from transformers import LlamaModel, MistralModel, Qwen2Model, Qwen3Model

    decoder: Any = decoder_of(model)
    config = decoder.config
    layers = getattr(config, "layer_types", None)
    slides = set(layers) != {"full_attention"} if layers else getattr(config, "sliding_window", None) is not None
    kinds = (LlamaModel, MistralModel, Qwen2Model, Qwen3Model)
    return type(decoder) in kinds and config._attn_implementation == "sdpa" and not slides


@contextmanager
def windows_apart(model: CausalLM) -> Iterator[None]:
    config = decoder_of(model).config
    before = config._attn_implementation
    config._attn_implementation = NAME
    try:
        yield
    finally:
        config._attn_implementation = before


def read_windows(model: CausalLM, inputs: Sequence[Tensor]) -> Tensor:
    """Hidden states [n, d] that the head reads, of windows of token ids [n_i], one behind the other."""
    lengths = [len(ids) for ids in inputs]
    positions = torch.cat([torch.arange(length, device=inputs[0].device) for length in lengths])
    with windows_apart(model):
        hidden: Tensor = decoder_of(model)(
            input_ids=torch.cat(list(inputs))[None],
            position_ids=positions[None],
            use_cache=False,
            **{LENGTHS: lengths},
        ).last_hidden_state
    return hidden[0]
