"""One tensor against the reference's, within a case's tolerance."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Check:
    """`worst` is the largest error as a share of what the tolerance allows: above 1 the check fails."""

    name: str
    worst: float
    note: str = ""

    @property
    def passed(self) -> bool:
        return self.worst <= 1  # false for NaN


def compare(name: str, got: Tensor, expected: Tensor, *, atol: float, rtol: float) -> Check:
    """|got - expected| <= atol * max|expected| + rtol * |expected|, for each element."""
    if got.shape != expected.shape:
        return Check(name, float("inf"), f"shape {tuple(got.shape)}, expected {tuple(expected.shape)}")
    got, expected = got.double(), expected.double()
    error = (got - expected).abs()
    allowed = atol * expected.abs().max() + rtol * expected.abs()
    ratio = torch.where(error == 0, 0.0, error / allowed)  # an all-zero tensor allows no error at all
    worst = float("nan") if bool(ratio.isnan().any()) else float(ratio.max())
    return Check(name, worst, f"max abs error {float(error.max()):.2e}")
