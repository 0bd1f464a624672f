"""Takes the place of PEFT's arithmetic while an adapter is trained: a frozen linear with a LoRA update, and a whole
SwiGLU block of three, each as one step of autograd.

The same numbers as PEFT's layers to rounding; no scaled copies, and nothing kept that can be made again cheaply.
Products are made in the format of the activations, to which the fp32 factors are rounded as autocast rounds them; a
weight in four bits is made plain for each product, as its library does.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import Function

from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.models.linear import FrozenLinear, Linear4bit, dequantize_4bit, product

Gradients = tuple[Tensor, Tensor]

ADAPTER = "default"  # PEFT's name for the only adapter


def adapted(x: Tensor, weight: Tensor, bias: Tensor | None, z: Tensor, b: Tensor, scaling: float) -> Tensor:
    """x [n, in] and z = x A^T [n, r] -> x W^T + bias + s z B^T, [n, out]."""
    return product(x, plain(weight), bias).addmm_(z, b.T, alpha=scaling)


def plain(weight: Tensor) -> Tensor:
    """[out, in], also of one that is held in four bits."""
    state = getattr(weight, "quant_state", None)
    return weight if state is None else dequantize_4bit(weight, state)


def gradients(x: Tensor, z: Tensor, dy: Tensor, dy_b: Tensor, scaling: float) -> Gradients:
    """dA [r, in] and dB [out, r] in fp32, with z = x A^T and dy_b = dy B, both [n, r]."""
    return (dy_b.T @ x).float().mul_(scaling), (z.T @ dy).float().mul_(scaling).T


class LoraLinear(Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, a: Tensor, b: Tensor, scaling: float
    ) -> Tensor:
        flat = x.flatten(0, -2)  # [n, in]
        a, b = a.to(x.dtype), b.to(x.dtype)
        z = flat @ a.T
        ctx.save_for_backward(flat, z, weight, a, b)
        ctx.scaling, ctx.shape = scaling, x.shape
        return adapted(flat, weight, bias, z, b, scaling).view(*x.shape[:-1], len(b))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        x, z, weight, a, b = ctx.saved_tensors
        dy = grads[0].flatten(0, -2)
        dy_b = dy @ b
        da, db = gradients(x, z, dy, dy_b, ctx.scaling)
        dx = (
            product(dy, plain(weight).t()).addmm_(dy_b, a, alpha=ctx.scaling).view(ctx.shape)
            if ctx.needs_input_grad[0]
            else None
        )
        return dx, None, None, da, db, None


class LoraSwiGlu(Function):
    """down(silu(gate(x)) * up(x)); of the three wide activations two are kept, and their product is made again."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, scalings: tuple[float, float, float], *tensors: Tensor) -> Tensor:
        wg, wu, wd, *factors = tensors
        ag, bg, au, bu, ad, bd = factors = [factor.to(x.dtype) for factor in factors]
        flat = x.flatten(0, -2)  # [n, d]
        zg, zu = flat @ ag.T, flat @ au.T  # [n, r]
        gate, up = adapted(flat, wg, None, zg, bg, scalings[0]), adapted(flat, wu, None, zu, bu, scalings[1])  # [n, f]
        gated = F.silu(gate).mul_(up)
        zd = gated @ ad.T
        kept = wg.dtype if wg.is_floating_point() else x.dtype  # the format that products round to
        ctx.save_for_backward(flat, gate.to(kept), up.to(kept), zg, zu, zd, wg, wu, wd, *factors)
        ctx.scalings, ctx.shape = scalings, x.shape
        return adapted(gated, wd, None, zd, bd, scalings[2]).view(x.shape)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        x, gate, up, zg, zu, zd, wg, wu, wd, ag, bg, au, bu, ad, bd = ctx.saved_tensors
        gate, up = gate.to(x.dtype), up.to(x.dtype)
        sg, su, sd = ctx.scalings
        dy = grads[0].flatten(0, -2)
        active = F.silu(gate)
        gated = active * up
        dy_b = dy @ bd
        dad, dbd = gradients(gated, zd, dy, dy_b, sd)
        dgated = product(dy, plain(wd).t()).addmm_(dy_b, ad, alpha=sd)  # [n, f]
        dup = active.mul_(dgated)
        dgate = torch.ops.aten.silu_backward(dgated.mul_(up), gate)
        dgate_b, dup_b = dgate @ bg, dup @ bu
        dag, dbg = gradients(x, zg, dgate, dgate_b, sg)
        dau, dbu = gradients(x, zu, dup, dup_b, su)
        dx = None
        if ctx.needs_input_grad[0]:
            dx = product(dgate, plain(wg).t()).addmm_(dgate_b, ag, alpha=sg)
            dx = dx.add_(product(dup, plain(wu).t())).addmm_(dup_b, au, alpha=su).view(ctx.shape)
        return dx, None, None, None, None, dag, dbg, dau, dbu, dad, dbd


class RmsNorm(Function):
    """x / sqrt(mean(x^2) + eps) * w with a frozen w, in few passes over x [..., d]."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        scale = torch.linalg.vecdot(x, x).div_(x.shape[-1]).add_(eps).rsqrt_().unsqueeze(-1)  # [..., 1]
        ctx.save_for_backward(x, weight, scale)
        normed: Tensor = x * scale
        return normed.mul_(weight)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, scale = ctx.saved_tensors
        weighted = grads[0] * weight
        along = torch.linalg.vecdot(weighted, x).unsqueeze(-1).mul_(scale.pow(3)).div_(x.shape[-1])
        return weighted.mul_(scale).addcmul_(x, along, value=-1), None, None


class HeadCrossEntropy(Function):
    """Cross-entropy [s] of hidden [s, d] through a frozen head; logits, `scale` times its products, live only while
    their gradient is made."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, scale: float, targets: Tensor, chunk: int) -> Tensor:
        losses = torch.empty(len(targets), dtype=torch.float32, device=hidden.device)
        gradient = torch.empty_like(hidden)
        for start in range(0, len(targets), chunk):
            part, wanted = hidden[start : start + chunk] * scale, targets[start : start + chunk]
            logits = product(part, weight).float()  # [c, vocabulary]
            norm = torch.logsumexp(logits, dim=-1, keepdim=True)
            losses[start : start + chunk] = norm.squeeze(-1) - logits.gather(1, wanted[:, None]).squeeze(1)
            probabilities = logits.sub_(norm).exp_()
            probabilities[torch.arange(len(wanted), device=wanted.device), wanted] -= 1.0
            gradient[start : start + chunk] = product(probabilities.to(weight.dtype), weight.t()).mul_(scale)
        ctx.save_for_backward(gradient)
        return losses

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = ctx.saved_tensors
        return gradient * grads[0].to(gradient.dtype).unsqueeze(-1), None, None, None, None


@contextmanager
def fused(model: CausalLM) -> Iterator[None]:
    """While open, with an adapter of fp32 factors on the model."""
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
    from peft.tuners.lora import Linear4bit as LoraLinear4bit

    return (
        type(module) in (Linear, LoraLinear4bit)
        and type(module.base_layer) in (nn.Linear, FrozenLinear, Linear4bit)
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
    return type(module) in kinds and not module.weight.requires_grad


def layers_of(module: Any) -> tuple[Any, Any, Any]:
    return module.gate_proj, module.up_proj, module.down_proj


def linear(module: Any, x: Tensor) -> Tensor:
    base = module.base_layer
    a, b = module.lora_A[ADAPTER].weight, module.lora_B[ADAPTER].weight
    return LoraLinear.apply(x, base.weight, base.bias, a, b, module.scaling[ADAPTER])  # type: ignore[no-any-return]


def rms_norm(module: Any, x: Tensor) -> Tensor:
    if x.dtype != torch.float32:  # torch's own sums in fp32
        return F.rms_norm(x, x.shape[-1:], module.weight, module.variance_epsilon)
    return RmsNorm.apply(x, module.weight, module.variance_epsilon)  # type: ignore[no-any-return]


def swiglu(module: Any, x: Tensor) -> Tensor:
    layers = layers_of(module)
    weights = [layer.base_layer.weight for layer in layers]
    factors = [side[ADAPTER].weight for layer in layers for side in (layer.lora_A, layer.lora_B)]
    return LoraSwiGlu.apply(x, tuple(layer.scaling[ADAPTER] for layer in layers), *weights, *factors)  # type: ignore[no-any-return]
