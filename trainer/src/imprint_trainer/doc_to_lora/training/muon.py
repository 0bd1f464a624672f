"""Muon: momentum whose matrix updates are orthogonalised (Jordan et al. 2024); stacks go matrix by matrix."""

from collections.abc import Iterable

import torch
from torch import Tensor

COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # quintic Newton-Schulz iteration
NEWTON_SCHULZ_STEPS = 5


def orthogonalise(matrix: Tensor) -> Tensor:
    """[..., m, n] -> about U V^T of its singular value decomposition."""
    x: Tensor
    tall = matrix.shape[-2] > matrix.shape[-1]
    x = matrix.mT if tall else matrix
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    a, b, c = COEFFICIENTS
    for _ in range(NEWTON_SCHULZ_STEPS):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """For parameters of two or more dimensions, the last two being the matrix."""

    def __init__(self, parameters: Iterable[Tensor], lr: float, momentum: float = 0.95) -> None:
        super().__init__(parameters, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                buffer = state.setdefault("momentum_buffer", torch.zeros_like(parameter))
                buffer.lerp_(parameter.grad, 1 - group["momentum"])
                update = parameter.grad.lerp(buffer, group["momentum"])  # Nesterov
                rows, columns = parameter.shape[-2:]
                parameter.add_(orthogonalise(update), alpha=-group["lr"] * max(1.0, rows / columns) ** 0.5)
