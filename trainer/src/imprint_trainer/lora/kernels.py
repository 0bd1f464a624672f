"""A frozen linear with a LoRA update, and a whole SwiGLU block of three, each as one step of autograd.

The same numbers as PEFT's layers to rounding; no scaled copies, and nothing kept that can be made again cheaply.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import Function

from imprint_trainer.models.linear import product

Gradients = tuple[Tensor, Tensor]


def adapted(x: Tensor, weight: Tensor, bias: Tensor | None, z: Tensor, b: Tensor, scaling: float) -> Tensor:
    """x [n, in] and z = x A^T [n, r] -> x W^T + bias + s z B^T, [n, out]."""
    return product(x, weight, bias).addmm_(z, b.T, alpha=scaling)


def gradients(x: Tensor, z: Tensor, dy: Tensor, dy_b: Tensor, scaling: float) -> Gradients:
    """dA [r, in] and dB [out, r], with z = x A^T and dy_b = dy B, both [n, r]."""
    return (dy_b.T @ x).mul_(scaling), (z.T @ dy).mul_(scaling).T


class LoraLinear(Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, a: Tensor, b: Tensor, scaling: float
    ) -> Tensor:
        flat = x.flatten(0, -2)  # [n, in]
        z = flat @ a.T
        ctx.save_for_backward(flat, z, weight, a, b)
        ctx.scaling, ctx.shape = scaling, x.shape
        return adapted(flat, weight, bias, z, b, scaling).view(*x.shape[:-1], weight.shape[0])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        x, z, weight, a, b = ctx.saved_tensors
        dy = grads[0].flatten(0, -2)
        dy_b = dy @ b
        da, db = gradients(x, z, dy, dy_b, ctx.scaling)
        dx = (
            product(dy, weight.t()).addmm_(dy_b, a, alpha=ctx.scaling).view(ctx.shape)
            if ctx.needs_input_grad[0]
            else None
        )
        return dx, None, None, da, db, None


class LoraSwiGlu(Function):
    """down(silu(gate(x)) * up(x)); of the three wide activations two are kept, and their product is made again."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, scalings: tuple[float, float, float], *tensors: Tensor) -> Tensor:
        wg, wu, wd, ag, bg, au, bu, ad, bd = tensors
        flat = x.flatten(0, -2)  # [n, d]
        zg, zu = flat @ ag.T, flat @ au.T  # [n, r]
        gate, up = adapted(flat, wg, None, zg, bg, scalings[0]), adapted(flat, wu, None, zu, bu, scalings[1])  # [n, f]
        gated = F.silu(gate).mul_(up)
        zd = gated @ ad.T
        kept = wg.dtype  # the format that products round to
        ctx.save_for_backward(flat, gate.to(kept), up.to(kept), zg, zu, zd, *tensors)
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
        dgated = product(dy, wd.t()).addmm_(dy_b, ad, alpha=sd)  # [n, f]
        dup = active.mul_(dgated)
        dgate = torch.ops.aten.silu_backward(dgated.mul_(up), gate)
        dgate_b, dup_b = dgate @ bg, dup @ bu
        dag, dbg = gradients(x, zg, dgate, dgate_b, sg)
        dau, dbu = gradients(x, zu, dup, dup_b, su)
        dx = None
        if ctx.needs_input_grad[0]:
            dx = product(dgate, wg.t()).addmm_(dgate_b, ag, alpha=sg)
            dx = dx.add_(product(dup, wu.t())).addmm_(dup_b, au, alpha=su).view(ctx.shape)
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
