"""Tiny random base models, hypernetworks and a tokenizer: only the numbers matter."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedTokenizerFast,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from imprint_trainer.doc_to_lora.checkpoint.build import build, expected_shapes
from imprint_trainer.doc_to_lora.config import HypernetworkConfig, PerceiverAttention
from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.doc_to_lora.targets import PATHS

FIXTURES = Path(__file__).parent.parent / "fixtures" / "doc-to-lora"
BASE = "tiny/base-instruct"
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
FAMILIES = {
    "llama": (LlamaConfig, LlamaForCausalLM),
    "qwen3": (Qwen3Config, Qwen3ForCausalLM),
    "gemma2": (Gemma2Config, Gemma2ForCausalLM),
    "mistral": (MistralConfig, MistralForCausalLM),
}


def tiny_model(family: str = "llama", *, layers: int = 3, seed: int = 0, vocab: int = 300) -> Any:
    """A base model with weights large enough that every layer matters."""
    torch.manual_seed(seed)
    config_class, model_class = FAMILIES[family]
    config = config_class(
        vocab_size=vocab,
        hidden_size=16,
        intermediate_size=28,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=512,
        initializer_range=0.3,
        pad_token_id=0,
    )
    return model_class(config).eval().requires_grad_(False)


def tiny_config(model: Any, *, modules: tuple[str, ...] = ("down_proj",), **changes: Any) -> HypernetworkConfig:
    block = model.model.layers[0]
    linears = {module: block.get_submodule(PATHS[module]) for module in modules}
    settings: dict[str, Any] = {
        "base_model_name_or_path": BASE,
        "layer_indices": tuple(range(len(model.model.layers))),
        "target_modules": tuple(sorted(modules)),
        "d_in": {module: linear.in_features for module, linear in linears.items()},
        "d_out": {module: linear.out_features for module, linear in linears.items()},
        "rank": 2,
        "lora_alpha": 2.5,
        "feature_size": model.config.hidden_size,
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
    return build(config, random_tensors(config, seed=seed), dtype=dtype)


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


def difference(a: Tensor, b: Tensor) -> float:
    """Largest difference, relative to the largest value."""
    return float((a - b).abs().max() / b.abs().max())
