"""Products with frozen weights on a CPU: by oneDNN where that is faster than the BLAS that torch calls; in bf16 where
the weights are."""

from functools import cache
from typing import Any
from unittest.mock import patch

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import Function

from imprint_trainer.models.device import is_amd

with patch.object(torch, "compile", None):  # the library would, at its import: two seconds of each process
    from bitsandbytes.functional import dequantize_4bit as dequantize_4bit
    from bitsandbytes.nn import Linear4bit as Linear4bit
    from bitsandbytes.nn import Params4bit as Params4bit


@cache
def onednn_is_faster() -> bool:
    """AMD's CPUs with AVX-512: MKL keeps to AVX2 there (200 GFLOP/s on two cores, oneDNN 430). Others use all of it."""
    return (
        is_amd()
        and torch.backends.cpu.get_cpu_capability().startswith("AVX512")
        and torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    )


def product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x [..., in] W^T + bias, [..., out], in the format of x: above a bf16 weight an fp32 x is rounded, and the product
    widened. Not for autograd, which cannot follow oneDNN: FrozenLinear is."""
    if weight.dtype == torch.bfloat16 and x.dtype == torch.float32:
        wide = F.linear(x.bfloat16(), weight).float()
        return wide if bias is None else wide.add_(bias)
    if (
        onednn_is_faster()
        and weight.device.type == "cpu"
        and weight.dtype == x.dtype == torch.float32
        and x.numel() > 0
    ):
        return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")  # type: ignore[no-any-return]
    return F.linear(x, weight, bias)


class _FrozenProduct(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(weight)
        return product(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (weight,) = ctx.saved_tensors
        return product(grads[0], weight.t()), None, None


class FrozenLinear(nn.Linear):
    """A linear whose weight takes no gradient."""

    def forward(self, x: Tensor) -> Tensor:
        return _FrozenProduct.apply(x, self.weight, self.bias)  # type: ignore[no-any-return]


def freeze_linears(model: nn.Module) -> None:
    """Makes the plain fp32 linears of a frozen model, its head included, multiply by oneDNN where that is faster."""
    if not onednn_is_faster():
        return
    for module in model.modules():
        if type(module) is nn.Linear and module.weight.dtype == torch.float32 and module.weight.device.type == "cpu":
            module.__class__ = FrozenLinear
