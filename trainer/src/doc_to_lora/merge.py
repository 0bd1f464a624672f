"""Chunks and the learned bias become one LoRA: concatenated along the rank (section 7), cut to a rank (section 8.1)."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from doc_to_lora.modeling import Hypernetwork
from imprint_trainer.lora.adapter import Factors


def merge_chunks(
    hypernetwork: Hypernetwork,
    chunks: dict[str, Factors],
    *,
    scalers: Tensor | None = None,
    bias_scaler: float = 1.0,
    user_defined_scaling: float = 1.0,
) -> dict[str, Factors]:
    """Factors of one document's K chunks [K, L, r, d] -> [L, (K + 1) * r, d]: chunks are summed, not averaged.

    `scalers` [K] multiplies A alone; `bias_scaler` both bias factors and `user_defined_scaling` both generated factors,
    so each of these two is squared in the product. Without `use_bias` the result has K * r ranks.
    """
    merged = {}
    for module, factors in chunks.items():
        A, B = factors.A * user_defined_scaling, factors.B * user_defined_scaling
        if scalers is not None:
            A = A * scalers.to(A)[:, None, None, None]
        rows_a, rows_b = list(A.unbind()), list(B.unbind())
        if hypernetwork.config.use_bias:
            rows_a.append(hypernetwork.bias_A[module] * bias_scaler)
            rows_b.append(hypernetwork.bias_B[module] * bias_scaler)
        merged[module] = Factors(torch.cat(rows_a, dim=1), torch.cat(rows_b, dim=1))
    return merged


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
        new_a = pad(new_a, (0, 0, 0, rank - k))
        new_b = pad(new_b, (0, 0, 0, rank - k))
    squared = s.square()
    return new_a.to(A.dtype), new_b.to(B.dtype), float(squared[:k].sum()), float(squared.sum())
