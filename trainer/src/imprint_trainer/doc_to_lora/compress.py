"""A LoRA of many chunks brought to a fixed rank by QR and SVD (section 8.1): the best approximation of that rank."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from imprint_trainer.lora.adapter import Factors


@dataclass(frozen=True)
class Compressed:
    """`error` is the relative Frobenius error of the update over all layers and modules, 0 when nothing was cut."""

    factors: dict[str, Factors]
    error: float


def compress(factors: dict[str, Factors], rank: int) -> Compressed:
    """factors: for each module A [L, R, d_in], B [L, R, d_out]; unchanged when R <= rank."""
    if all(pair.A.shape[-2] <= rank for pair in factors.values()):
        return Compressed(factors, 0.0)
    compressed, kept, total = {}, 0.0, 0.0
    for module, pair in factors.items():
        layers = [_truncate(A, B, rank) for A, B in zip(pair.A.unbind(), pair.B.unbind(), strict=True)]
        compressed[module] = Factors(torch.stack([x[0] for x in layers]), torch.stack([x[1] for x in layers]))
        kept += sum(x[2] for x in layers)
        total += sum(x[3] for x in layers)
    return Compressed(compressed, math.sqrt(max(0.0, 1 - kept / total)) if total > 0 else 0.0)


def _truncate(A: Tensor, B: Tensor, rank: int) -> tuple[Tensor, Tensor, float, float]:
    """A [R, d_in], B [R, d_out] -> A [rank, d_in], B [rank, d_out], squared norm kept, squared norm of all of B^T A."""
    q_a, r_a = torch.linalg.qr(A.mT.double())  # [d_in, k], [k, R]
    q_b, r_b = torch.linalg.qr(B.mT.double())
    u, s, vh = torch.linalg.svd(r_b @ r_a.mT, full_matrices=False)
    k = min(rank, s.shape[0])
    root = s[:k].sqrt()
    new_a = root[:, None] * (vh[:k] @ q_a.mT)
    new_b = root[:, None] * (q_b @ u[:, :k]).mT
    if k < rank:  # a module narrower than the rank asked for
        new_a = torch.nn.functional.pad(new_a, (0, 0, 0, rank - k))
        new_b = torch.nn.functional.pad(new_b, (0, 0, 0, rank - k))
    squared = s.square()
    return new_a.to(A.dtype), new_b.to(B.dtype), float(squared[:k].sum()), float(squared.sum())
