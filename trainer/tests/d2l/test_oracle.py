"""The hypernetwork against a naive fp64 implementation of the description."""

from typing import Any

import pytest
import torch

from doc_to_lora.config import HypernetworkConfig
from doc_to_lora.generate import encode
from doc_to_lora.merge import merge_chunks

from .oracle import Oracle
from .tiny import difference, ids_and_mask, random_hypernetwork, random_tensors, tiny_config, tiny_model

VARIANTS: dict[str, dict[str, Any]] = {
    "the main models' layout": {},
    "early exit": {"encoder": "early_exit", "exit_layer": 2},
    "two modules of different size": {"modules": ("down_proj", "q_proj")},
    "early exit with two modules": {"encoder": "early_exit", "exit_layer": 1, "modules": ("down_proj", "o_proj")},
    "self-attention layers": {
        "encoder_layers": ("cross", "self", "self", "cross", "self", "self"),
        "decoder_layers": ("cross", "self"),
    },
    "shared residual MLP": {"per_layer_processing": False},
    "two shared residual MLPs, two modules": {
        "per_layer_processing": False,
        "num_pre_head_layers": 2,
        "modules": ("down_proj", "up_proj"),
    },
    "two residual blocks": {"num_pre_head_layers": 2},
    "no residual block": {"num_pre_head_layers": 0},
    "no bias": {"use_bias": False},
}


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS.keys())
def test_update_equals_the_loops(changes: dict[str, Any]) -> None:
    model = tiny_model()
    config = tiny_config(model, **changes)
    features, mask = _document(model, config)
    hypernetwork = random_hypernetwork(config)
    oracle = Oracle(config, {key: tensor.double() for key, tensor in random_tensors(config).items()})
    merged = merge_chunks(hypernetwork, hypernetwork(features, mask))
    for module, pair in merged.items():
        for layer in range(config.num_layers):
            got = config.lora_alpha * pair.B[layer].mT @ pair.A[layer]
            wanted = oracle.update(features.double(), mask, module, layer)
            assert difference(got.double(), wanted) < 1e-5


def test_fp64_differs_from_the_loops_by_rounding_only() -> None:
    model = tiny_model()
    config = tiny_config(model)
    features, mask = _document(model, config)
    hypernetwork = random_hypernetwork(config, dtype=torch.float64)
    oracle = Oracle(config, {key: tensor.double() for key, tensor in random_tensors(config).items()})
    pair = merge_chunks(hypernetwork, hypernetwork(features, mask))["down_proj"]
    got = config.lora_alpha * pair.B[0].mT @ pair.A[0]
    assert difference(got, oracle.update(features.double(), mask, "down_proj", 0)) < 1e-12


def _document(model: Any, config: HypernetworkConfig) -> tuple[torch.Tensor, torch.Tensor]:
    ids, mask = ids_and_mask([7, 4])
    return encode(model, ids, mask, config), mask
