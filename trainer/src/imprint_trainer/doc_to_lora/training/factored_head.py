"""The head and the learned ranks while they train: A in a fixed basis of each target's inputs, B in axes of the output
vocabulary.

Both fold into ordinary ones, so what is saved is a plain Doc-to-LoRA hypernetwork.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn


class FactoredHead(nn.Module):
    """Latents [K, L, 1, r, d] -> rows [K, L, 1, r, d_in + d_out] of the one target module."""

    basis: Tensor
    out_axes: Tensor
    out_scale: Tensor

    def __init__(self, *, latent_size: int, basis: Tensor, out_axes: Tensor, out_scale: Tensor) -> None:
        """basis [L, c, d_in], out_axes [d_out, d_out], out_scale [L]."""
        super().__init__()
        layers, components, _ = basis.shape
        self.register_buffer("basis", basis)
        self.register_buffer("out_axes", out_axes)
        self.register_buffer("out_scale", out_scale)
        self.weight_A = nn.Parameter(torch.randn(layers, latent_size, components) / components**0.5)
        self.weight_B = nn.Parameter(torch.zeros(layers, latent_size, out_axes.shape[-1]))

    @property
    def weight(self) -> Tensor:
        """The ordinary head's weight [L, d, d_in + d_out]."""
        return torch.cat([self.in_rows(self.weight_A), self.out_rows(self.weight_B)], dim=-1)

    def in_rows(self, weight: Tensor) -> Tensor:
        """[L, n, c] -> [L, n, d_in]."""
        return weight @ self.basis

    def out_rows(self, weight: Tensor) -> Tensor:
        """[L, n, d_out] -> the same shape."""
        return weight @ self.out_axes * self.out_scale[:, None, None]

    @torch.no_grad()
    def weights_of(self, rows_A: Tensor, rows_B: Tensor) -> tuple[Tensor, Tensor]:
        """What rows on the CPU are made of; what the basis does not hold of A is left out."""
        basis, out_axes, out_scale = (x.double().cpu() for x in (self.basis, self.out_axes, self.out_scale))
        weight_A = rows_A.double() @ torch.linalg.pinv(basis)
        weight_B = rows_B.double() @ torch.linalg.inv(out_axes) / out_scale[:, None, None]
        return weight_A.float(), weight_B.float()

    def forward(self, x: Tensor) -> Tensor:
        return torch.einsum("klmrd,ldo->klmro", x, self.weight)


class FactoredBias(nn.Module):
    """One side of the learned ranks that every adapter gets, in a head's axes: ranks in A that read anything else would
    be what disturbs ordinary text most. Read as the mapping from a target module to rows [L, r, d] that it stands for.
    """

    def __init__(self, weight: Tensor, rows: Callable[[Tensor], Tensor]) -> None:
        """`rows` makes rows of the weight [L, r, n]."""
        super().__init__()
        self.weight = nn.Parameter(weight)
        self._rows = rows

    def __getitem__(self, module: str) -> Tensor:
        return self._rows(self.weight)
