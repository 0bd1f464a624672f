"""RMS normalisation of the Perceiver (section 5.2)."""

import torch
from torch import Tensor, nn

EPSILON = 1e-6


def rms_normalize(x: Tensor) -> Tensor:
    """x / sqrt(mean(x^2) + 1e-6) over the last dimension; statistics in fp32 or better, result in x's dtype."""
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + EPSILON)).to(x.dtype)


class RMSNorm(nn.Module):
    """`rms_normalize` times a plain weight, not 1 + w. Under autocast its fp32 keeps the residual stream in fp32."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))  # [size]

    def forward(self, x: Tensor) -> Tensor:
        return self.weight * rms_normalize(x)
