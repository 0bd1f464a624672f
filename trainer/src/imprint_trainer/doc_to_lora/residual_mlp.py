"""Residual blocks between Perceiver and head (section 6.1): x + LN(W2 silu(W1 LN(x) + b1) + b2).

Child names and indices are those of published checkpoints (section 9).
"""

import torch
from torch import Tensor, nn


class PerLayerLinear(nn.Module):
    """A Linear of its own for each base model layer: x [K, L, M, r, i] -> [K, L, M, r, h]."""

    def __init__(self, *, layers: int, d_in: int, d_out: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(layers, d_in, d_out))  # [L, i, h]
        self.bias = nn.Parameter(torch.empty(1, layers, 1, 1, d_out))

    def forward(self, x: Tensor) -> Tensor:
        return torch.einsum("klmri,lih->klmrh", x, self.weight) + self.bias


class PerLayerResidualMlp(nn.Module):
    """Separate Linears for each base model layer, shared LayerNorms. Keys: `layers.{0,1,3,4}`."""

    def __init__(self, *, layers: int, size: int, hidden: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.LayerNorm(size),
            PerLayerLinear(layers=layers, d_in=size, d_out=hidden),
            nn.SiLU(),
            PerLayerLinear(layers=layers, d_in=hidden, d_out=size),
            nn.LayerNorm(size),
        )

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = x + self.layers(x)
        return out


class SharedResidualMlp(nn.Module):
    """One block for all base model layers. Keys: `mlp.{0,2,5,6}`; 1 and 4 are the reference's dropouts, unused here."""

    def __init__(self, *, size: int, hidden: int) -> None:
        super().__init__()
        self.mlp = nn.Sequential(
            nn.LayerNorm(size),
            nn.Identity(),
            nn.Linear(size, hidden),
            nn.SiLU(),
            nn.Identity(),
            nn.Linear(hidden, size),
            nn.LayerNorm(size),
        )

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = x + self.mlp(x)
        return out
