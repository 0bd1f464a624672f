"""Latents to the rows of A and B (section 6.3): a matrix for each layer (and module), the same one for every rank."""

import torch
from torch import Tensor, nn


class Head(nn.Module):
    """Bias-free. Weight [L, d, d_lora] for one target module, [L, M, d, d_lora] for several."""

    def __init__(self, *, layers: int, modules: int, size: int, d_lora: int) -> None:
        super().__init__()
        shape = (layers, size, d_lora) if modules == 1 else (layers, modules, size, d_lora)
        self.weight = nn.Parameter(torch.empty(shape))

    def forward(self, x: Tensor) -> Tensor:
        """[K, L, M, r, d] -> [K, L, M, r, d_lora]."""
        equation = "klmrd,ldo->klmro" if self.weight.dim() == 3 else "klmrd,lmdo->klmro"
        return torch.einsum(equation, x, self.weight)
