"""Puts the fused kernels in place of PEFT's arithmetic while an adapter is trained; its parameters stay PEFT's."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.models.linear import FrozenLinear

from imprint_trainer.lora.kernels import LoraLinear, LoraSwiGlu, RmsNorm

ADAPTER = "default"  # PEFT's name for the only adapter


@contextmanager
def fused(model: CausalLM) -> Iterator[None]:
    """Only plain layers with fp32 activations take part: NF4 layers keep the library's own kernels."""
    changed: list[Any] = []
    for module in model.modules():
        if is_swiglu(module):
            module.forward = partial(swiglu, module)
            changed.append(module)
        elif is_plain_lora(module):
            module.forward = partial(linear, module)
            changed.append(module)
        elif is_rms_norm(module):
            module.forward = partial(rms_norm, module)
            changed.append(module)
    try:
        yield
    finally:
        for module in changed:
            del module.forward


def is_plain_lora(module: Any) -> bool:
    from peft.tuners.lora import Linear

    return (
        type(module) is Linear
        and type(module.base_layer) in (nn.Linear, FrozenLinear)
        and (module.base_layer.weight.dtype == torch.float32 or type(module.base_layer) is FrozenLinear)
        and module.active_adapters == [ADAPTER]
        and isinstance(module.lora_dropout[ADAPTER], nn.Identity)
        and not module.lora_variant
        and not module.fan_in_fan_out
    )


def is_swiglu(module: Any) -> bool:
    """The block of Llama, Mistral, Qwen and their kin, adapted in all three layers."""
    from transformers.models.llama.modeling_llama import LlamaMLP
    from transformers.models.mistral.modeling_mistral import MistralMLP
    from transformers.models.qwen2.modeling_qwen2 import Qwen2MLP
    from transformers.models.qwen3.modeling_qwen3 import Qwen3MLP

    return (
        type(module) in (LlamaMLP, MistralMLP, Qwen2MLP, Qwen3MLP)
        and module.config.hidden_act == "silu"
        and all(is_plain_lora(layer) and layer.base_layer.bias is None for layer in layers_of(module))
    )


def is_rms_norm(module: Any) -> bool:
    from transformers.models.llama.modeling_llama import LlamaRMSNorm
    from transformers.models.mistral.modeling_mistral import MistralRMSNorm
    from transformers.models.qwen2.modeling_qwen2 import Qwen2RMSNorm
    from transformers.models.qwen3.modeling_qwen3 import Qwen3RMSNorm

    kinds = (LlamaRMSNorm, MistralRMSNorm, Qwen2RMSNorm, Qwen3RMSNorm)
    return type(module) in kinds and module.weight.dtype == torch.float32 and not module.weight.requires_grad


def layers_of(module: Any) -> tuple[Any, Any, Any]:
    return module.gate_proj, module.up_proj, module.down_proj


def linear(module: Any, x: Tensor) -> Tensor:
    base = module.base_layer
    a, b = module.lora_A[ADAPTER].weight, module.lora_B[ADAPTER].weight
    return LoraLinear.apply(x, base.weight, base.bias, a, b, module.scaling[ADAPTER])  # type: ignore[no-any-return]


def rms_norm(module: Any, x: Tensor) -> Tensor:
    return RmsNorm.apply(x, module.weight, module.variance_epsilon)  # type: ignore[no-any-return]


def swiglu(module: Any, x: Tensor) -> Tensor:
    layers = layers_of(module)
    weights = [layer.base_layer.weight for layer in layers]
    factors = [side[ADAPTER].weight for layer in layers for side in (layer.lora_A, layer.lora_B)]
    return LoraSwiGlu.apply(x, tuple(layer.scaling[ADAPTER] for layer in layers), *weights, *factors)  # type: ignore[no-any-return]
