"""Tiny random base models and updates of them: only the numbers matter."""

from typing import Any

import torch
from torch import Tensor
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from imprint_trainer.imprint.config import PATHS, AdapterPlace
from imprint_trainer.lora.adapter import Factors

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


def place_in(model: Any, modules: tuple[str, ...] = ("down_proj",), **changes: Any) -> dict[str, Any]:
    """The settings of an `AdapterPlace` in all layers."""
    block = model.model.layers[0]
    linears = {module: block.get_submodule(PATHS[module]) for module in modules}
    return {
        "base_model_name_or_path": "tiny",
        "layer_indices": tuple(range(len(model.model.layers))),
        "target_modules": tuple(sorted(modules)),
        "d_in": {module: linear.in_features for module, linear in linears.items()},
        "d_out": {module: linear.out_features for module, linear in linears.items()},
        "rank": 2,
        "lora_alpha": 2.5,
        "feature_size": model.config.hidden_size,
        **changes,
    }


def random_factors(place: AdapterPlace, *, seed: int = 3, size: float = 0.1) -> dict[str, Factors]:
    """Of rank 4."""
    generator = torch.Generator().manual_seed(seed)

    def rows(width: int) -> Tensor:
        return torch.randn(place.num_layers, 4, width, generator=generator)

    return {name: Factors(rows(place.d_in[name]), size * rows(place.d_out[name])) for name in place.target_modules}


def difference(a: Tensor, b: Tensor) -> float:
    """Largest difference, relative to the largest value."""
    return float((a - b).abs().max() / b.abs().max())
