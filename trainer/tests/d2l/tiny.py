"""Tiny random hypernetworks and a tokenizer: only the numbers matter."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor
from transformers import PreTrainedTokenizerFast

from doc_to_lora.config import HypernetworkConfig, PerceiverAttention
from doc_to_lora.generate import build, expected_shapes
from doc_to_lora.modeling import Hypernetwork
from imprint.tiny import FAMILIES, difference, place_in, tiny_model

__all__ = ["FAMILIES", "difference", "tiny_model"]

FIXTURES = Path(__file__).parent.parent / "fixtures" / "doc-to-lora"
BASE = "tiny/base-instruct"
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tiny_config(model: Any, *, modules: tuple[str, ...] = ("down_proj",), **changes: Any) -> HypernetworkConfig:
    settings: dict[str, Any] = {
        **place_in(model, modules, base_model_name_or_path=BASE),
        "latent_size": 12,
        "n_latent_queries": 3,
        "encoder_layers": ("cross", "cross"),
        "attention": PerceiverAttention(n_heads=4, num_key_value_heads=2, head_dim=4),
        "projection_size": 20,
        "perceiver_mlp_size": 18,
        "pre_head_size": 14,
        **changes,
    }
    return HypernetworkConfig.model_validate(settings)


def random_tensors(config: HypernetworkConfig, *, seed: int = 1) -> dict[str, Tensor]:
    """Every parameter random, those included whose defaults are 0 or 1."""
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for key, shape in expected_shapes(config).items():
        noise = torch.randn(shape, generator=generator)
        around_one = len(shape) == 1 and key.endswith("weight")
        tensors[key] = 1 + 0.3 * noise if around_one else noise * 0.5 / max(1, shape[-1]) ** 0.25
    return tensors


def random_hypernetwork(
    config: HypernetworkConfig, *, seed: int = 1, dtype: torch.dtype = torch.float32
) -> Hypernetwork:
    return build(config, random_tensors(config, seed=seed)).to(dtype)


def tiny_tokenizer(template: str = CHATML) -> PreTrainedTokenizerFast:
    """Bytes as tokens, chat markers as special tokens: ids below 300."""
    specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: index for index, token in enumerate([*specials, *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(specials)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=specials[0], chat_template=template)


def ids_and_mask(
    lengths: list[int], *, width: int | None = None, left: bool = False, seed: int = 2
) -> tuple[Tensor, Tensor]:
    """Random ids of rows with these lengths, padded with 0."""
    generator = torch.Generator().manual_seed(seed)
    width = max(lengths) if width is None else width
    ids, mask = torch.zeros(len(lengths), width, dtype=torch.long), torch.zeros(len(lengths), width, dtype=torch.long)
    for row, length in enumerate(lengths):
        own = slice(width - length, width) if left else slice(0, length)
        ids[row, own] = torch.randint(3, 200, (length,), generator=generator)
        mask[row, own] = 1
    return ids, mask
