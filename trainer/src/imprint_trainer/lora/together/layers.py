"""A frozen linear layer with the LoRA updates of several adapters, each on rows of its own."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import Function

from imprint_trainer.lora.fuse import ADAPTER
from imprint_trainer.lora.kernels import gradients


class AddUpdates(Function):
    """Adds s_k x_k A_k^T B_k^T to the k-th of `sizes` rows of y [n, out], in place; x [n, in]. The factors come in
    pairs, and are computed with in the format of y."""

    @staticmethod
    def forward(ctx: Any, y: Tensor, x: Tensor, sizes: list[int], scalings: list[float], *factors: Tensor) -> Tensor:
        a, b = factors[::2], factors[1::2]
        projected = [
            rows @ one.T for rows, one in zip(torch.split(x, sizes), a, strict=True)
        ]  # z_k = x_k A_k^T [n_k, r_k]
        for rows, z, one, scaling in zip(torch.split(y, sizes), projected, b, scalings, strict=True):
            rows.addmm_(z, one.T, alpha=scaling)
        ctx.mark_dirty(y)
        ctx.save_for_backward(x, *projected, *factors)
        ctx.sizes, ctx.scalings = sizes, scalings
        return y

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        x, *saved = ctx.saved_tensors
        count = len(ctx.sizes)
        a, b = saved[count::2], saved[count + 1 :: 2]
        dx = torch.empty_like(x)
        found: list[Tensor] = []
        given, wanted = torch.split(grads[0], ctx.sizes), torch.split(dx, ctx.sizes)
        for k, (rows, dy, z, to) in enumerate(
            zip(torch.split(x, ctx.sizes), given, saved[:count], wanted, strict=True)
        ):
            dy_b = dy @ b[k]
            found.extend(gradients(rows, z, dy, dy_b, ctx.scalings[k]))
            torch.mm(dy_b, a[k], out=to).mul_(ctx.scalings[k])
        return grads[0], dx, None, None, *found


class GroupedLinear(nn.Module):
    """What stands in the place of a layer while several adapters' rows go through: x [1, n, in], those of one adapter
    side by side. `layers`: PEFT's, of one base layer; `sizes`: rows of each."""

    def __init__(self, layers: Sequence[Any], sizes: list[int]) -> None:
        super().__init__()
        self.base_layer = layers[0].base_layer
        self._sizes = sizes
        self._scalings = [layer.scaling[ADAPTER] for layer in layers]
        self._factors = [side[ADAPTER].weight for layer in layers for side in (layer.lora_A, layer.lora_B)]

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.base_layer(x)
        rows = x.flatten(0, -2).to(y.dtype)
        factors = [factor.to(y.dtype) for factor in self._factors]
        return AddUpdates.apply(y.flatten(0, -2), rows, self._sizes, self._scalings, *factors).view_as(y)  # type: ignore[no-any-return]
