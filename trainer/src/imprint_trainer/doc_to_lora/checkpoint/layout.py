"""What the tensors say about a hypernetwork (section 9): counts and sizes are read from them, never assumed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from imprint_trainer.doc_to_lora.config import LayerKind
from imprint_trainer.errors import HypernetworkInvalid

_PERCEIVER = "aggregator.perceiver"


@dataclass(frozen=True)
class Layout:
    """Sizes of a state dict, under the names of HypernetworkConfig."""

    modules: tuple[str, ...]
    num_layers: int
    rank: int
    d_in: dict[str, int]
    d_out: dict[str, int]
    feature_size: int
    projection_size: int
    latent_size: int
    n_latent_queries: int
    decoder_latents: int
    encoder_layers: tuple[LayerKind, ...]
    decoder_layers: tuple[LayerKind, ...]
    perceiver_mlp_size: int
    num_pre_head_layers: int
    per_layer_processing: bool
    pre_head_size: int


def read_layout(tensors: Mapping[str, Tensor]) -> Layout:
    """Raise HypernetworkInvalid when a tensor that fixes a size is missing."""

    def size(key: str, dim: int) -> int:
        tensor = tensors.get(key)
        if tensor is None or not -tensor.dim() <= dim < tensor.dim() or tensor.shape[dim] == 0:
            raise HypernetworkInvalid(f"The checkpoint has no usable tensor {key}.")
        return tensor.shape[dim]

    modules = tuple(sorted(key.removeprefix("scaler_A.") for key in tensors if key.startswith("scaler_A.")))
    if not modules:
        raise HypernetworkInvalid("The checkpoint has no scaler_A: it names no target module.")
    latent_size = size(f"{_PERCEIVER}.encoder.latents_q", 1)
    encoder_layers = _resampler_layers(tensors, "encoder")
    if not encoder_layers:
        raise HypernetworkInvalid("The checkpoint's Perceiver has no encoder layers.")
    first = f"{_PERCEIVER}.encoder.layers.0"
    blocks = _count(tensors, r"layers\.(\d+)\.")
    per_layer = "layers.0.layers.1.weight" in tensors or not blocks
    hidden_key = ("layers.0.layers.1.weight", 2) if per_layer else ("layers.0.mlp.2.weight", 0)
    return Layout(
        modules=modules,
        num_layers=size(f"scaler_A.{modules[0]}", 1),
        rank=size(f"scaler_A.{modules[0]}", 2),
        d_in={module: size(f"bias_A.{module}", 2) for module in modules},
        d_out={module: size(f"bias_B.{module}", 2) for module in modules},
        feature_size=size(f"{_PERCEIVER}.modality_projection.gate_proj.weight", 1),
        projection_size=size(f"{_PERCEIVER}.modality_projection.gate_proj.weight", 0),
        latent_size=latent_size,
        n_latent_queries=size(f"{_PERCEIVER}.encoder.latents_q", 0),
        decoder_latents=size(f"{_PERCEIVER}.decoder.latents_q", 0),
        encoder_layers=encoder_layers,
        decoder_layers=_resampler_layers(tensors, "decoder"),
        perceiver_mlp_size=size(f"{first}.mlp.gate_proj.weight", 0),
        num_pre_head_layers=blocks,
        per_layer_processing=per_layer,
        pre_head_size=size(*hidden_key) if blocks else 4 * latent_size,
    )


def _resampler_layers(tensors: Mapping[str, Tensor], part: str) -> tuple[LayerKind, ...]:
    """Self-attention layers are those without input_context_layernorm (section 9)."""
    prefix = f"{_PERCEIVER}.{part}.layers"
    return tuple(
        "cross" if f"{prefix}.{index}.input_context_layernorm.weight" in tensors else "self"
        for index in range(_count(tensors, re.escape(prefix) + r"\.(\d+)\."))
    )


def _count(tensors: Mapping[str, Tensor], pattern: str) -> int:
    found = {int(match[1]) for key in tensors if (match := re.match(pattern, key))}
    if found != set(range(len(found))):
        raise HypernetworkInvalid(f"The checkpoint's layers are not numbered 0 to {len(found) - 1}.")
    return len(found)
