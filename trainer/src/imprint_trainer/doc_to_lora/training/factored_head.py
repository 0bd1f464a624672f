"""The head while it trains: A in a fixed basis of each target's inputs, B in axes of the output vocabulary.

Both fold into an ordinary head, so what is saved is a plain Doc-to-LoRA hypernetwork.
"""

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
        rows_B = self.weight_B @ self.out_axes * self.out_scale[:, None, None]
        return torch.cat([self.weight_A @ self.basis, rows_B], dim=-1)

    @torch.no_grad()
    def take_apart(self, weight: Tensor) -> None:
        """In place: the factors of an ordinary head's weight, whose rows of A the basis must hold."""
        rows_A, rows_B = weight.double().cpu().tensor_split([self.basis.shape[-1]], dim=-1)
        basis, out_axes, out_scale = (x.double().cpu() for x in (self.basis, self.out_axes, self.out_scale))
        self.weight_A.copy_(rows_A @ torch.linalg.pinv(basis))
        self.weight_B.copy_(rows_B @ torch.linalg.inv(out_axes) / out_scale[:, None, None])

    def forward(self, x: Tensor) -> Tensor:
        return torch.einsum("klmrd,ldo->klmro", x, self.weight)
