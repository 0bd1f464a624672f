"""NF4 with double quantisation (QLoRA, section 3), and the way back to plain linears."""

from typing import Any

import torch
from torch import nn

from imprint_trainer.models.linear import FrozenLinear, Linear4bit, Params4bit, dequantize_4bit

HEADROOM_BYTES = 2 * 2**30  # activations and optimizer of a small model


def nf4_config(dtype: torch.dtype) -> Any:
    """The compute dtype is set on purpose: the library's default is fp32 everywhere."""
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True, bnb_4bit_compute_dtype=dtype
    )


def quantise(model: Any, dtype: torch.dtype, device: torch.device) -> Any:
    """On `device`, with every linear layer but the output head as loading with `nf4_config` would have made it, a layer
    at a time. Changes the model."""
    kind: dict[str, Any] = {"compress_statistics": True, "quant_type": "nf4"}
    head = model.get_output_embeddings()
    for name, layer in [(n, one) for n, one in model.named_modules() if isinstance(one, nn.Linear) and one is not head]:
        with torch.device("meta"):
            four = Linear4bit(layer.in_features, layer.out_features, bias=False, compute_dtype=dtype, **kind)
        four.weight = Params4bit(layer.weight.data, requires_grad=False, module=four, **kind)
        four.bias = layer.bias
        model.set_submodule(name, four.to(device))
    for tensor in (*model.parameters(), *model.buffers()):
        tensor.data = tensor.data.to(device)
    return model


def linear4bit_layers(model: nn.Module) -> list[tuple[str, Any]]:
    return [(name, module) for name, module in model.named_modules() if isinstance(module, Linear4bit)]


def settle_linear4bit(model: nn.Module, dtype: torch.dtype) -> None:
    """Keeps quantised layers trainable after an evaluation, and every number beside the four bits in `dtype`.

    transformers leaves what a prequantised folder holds as it is stored. In eval mode on CPUs with avx512_bf16 the
    library repacks weights in place and never back; training then loses gradients.
    """
    for _, layer in linear4bit_layers(model):
        layer.support_avx512bf16_for_cpu = False
        layer.compute_dtype, layer.compute_type_is_set = dtype, True
        layer.weight.quant_state.dtype = dtype
    for parameter in model.parameters():
        if not isinstance(parameter, Params4bit):
            parameter.data = parameter.data.to(dtype)


def dequantised_fits(model: nn.Module, dtype: torch.dtype, available: int) -> bool:
    """Whether plain linears in `dtype` take less than half of `available` bytes, headroom left."""
    weights = sum(layer.in_features * layer.out_features for _, layer in linear4bit_layers(model))
    needed = dtype.itemsize * weights
    return bool(available >= 2 * needed + HEADROOM_BYTES)


def dequantise(model: nn.Module, dtype: torch.dtype) -> None:
    """Replaces each quantised layer by a frozen linear with its numbers in `dtype`, once, so that no step pays for it.

    bf16 below fp32 activations computes as QLoRA does (section 3: NF4 is what is stored, bf16 what is computed in).
    """
    for name, layer in linear4bit_layers(model):
        weight = dequantize_4bit(layer.weight.data, layer.weight.quant_state)  # [out, in]
        with torch.device("meta"):
            plain: Any = (nn.Linear if dtype == layer.compute_dtype else FrozenLinear)(
                layer.in_features, layer.out_features, bias=False
            )
        plain.weight = nn.Parameter(weight.to(dtype), requires_grad=False)
        plain.bias = None if layer.bias is None else nn.Parameter(layer.bias.data, requires_grad=False)
        plain.train(layer.training)
        model.set_submodule(name, plain)
