"""Where in a decoder the target modules sit (section 8)."""

from typing import Any

from torch import nn

from imprint_trainer.doc_to_lora.config import AdapterPlace
from imprint_trainer.errors import HypernetworkInvalid
from imprint_trainer.models.causal_lm import CausalLM, Decoder

PATHS = {
    **{name: f"self_attn.{name}" for name in ("q_proj", "k_proj", "v_proj", "o_proj", "qkv_proj")},
    **{name: f"mlp.{name}" for name in ("down_proj", "up_proj", "gate_proj", "gate_up_proj")},
}


def module_path(layer: int, module: str) -> str:
    """Name of a target module inside a causal language model of the Llama family."""
    return f"model.layers.{layer}.{PATHS[module]}"


def decoder(model: CausalLM) -> Decoder:
    """The stack of blocks inside a causal language model; raises HypernetworkInvalid for other architectures."""
    inner: Any = getattr(model, "model", None)
    if not isinstance(getattr(inner, "layers", None), nn.ModuleList) or not hasattr(inner, "norm"):
        raise HypernetworkInvalid(
            f"{type(model).__name__} is no decoder of the Llama family (model.layers and model.norm): "
            "hypernetworks work for Llama, Qwen, Gemma and Mistral models."
        )
    found: Decoder = inner
    return found


def check_fits(model: CausalLM, config: AdapterPlace) -> None:
    """Raise HypernetworkInvalid unless the base model has the hypernetwork's hidden size and target modules."""
    blocks, hidden_size = decoder(model).layers, model.config.hidden_size
    if hidden_size != config.feature_size:
        raise HypernetworkInvalid(
            f"The hypernetwork reads features of size {config.feature_size}; the base model's have {hidden_size}."
        )
    for layer in config.layer_indices:
        if layer >= len(blocks):
            raise HypernetworkInvalid(
                f"The hypernetwork adapts layer {layer}; the base model has {len(blocks)} layers."
            )
        for module in config.target_modules:
            try:
                linear: Any = blocks[layer].get_submodule(PATHS[module])
            except (AttributeError, KeyError):
                raise HypernetworkInvalid(f"The base model has no {module} in layer {layer}.") from None
            sizes = (linear.in_features, linear.out_features)
            wanted = (config.d_in[module], config.d_out[module])
            if sizes != wanted:
                raise HypernetworkInvalid(
                    f"{module} of the base model's layer {layer} is {sizes[0]} x {sizes[1]}, "
                    f"the hypernetwork makes {wanted[0]} x {wanted[1]}."
                )
