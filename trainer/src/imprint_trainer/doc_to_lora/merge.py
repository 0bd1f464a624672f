"""Chunks and the learned bias become one LoRA, concatenated along the rank (section 7)."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad

from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.lora.adapter import Factors


def merge_chunks(
    hypernetwork: Hypernetwork,
    chunks: dict[str, Factors],
    *,
    scalers: Tensor | None = None,
    bias_scaler: float = 1.0,
    user_defined_scaling: float = 1.0,
) -> dict[str, Factors]:
    """Factors of one document's K chunks [K, L, r, d] -> [L, (K + 1) * r, d]: chunks are summed, not averaged, and with
    `chunk_scaling` "root" the sum of their updates is divided by sqrt(K).

    `scalers` [K] multiplies A alone; `bias_scaler` both bias factors and `user_defined_scaling` both generated factors,
    so each of these two is squared in the product. Without `use_bias` the result has K * r ranks.
    """
    merged = {}
    for module, factors in chunks.items():
        A, B = factors.A * user_defined_scaling, factors.B * user_defined_scaling
        if scalers is not None:
            A = A * scalers.to(A)[:, None, None, None]
        if hypernetwork.config.chunk_scaling == "root":
            A = A / math.sqrt(A.shape[0])
        rows_a, rows_b = list(A.unbind()), list(B.unbind())
        if hypernetwork.config.use_bias:
            rows_a.append(hypernetwork.bias_A[module] * bias_scaler)
            rows_b.append(hypernetwork.bias_B[module] * bias_scaler)
        merged[module] = Factors(torch.cat(rows_a, dim=1), torch.cat(rows_b, dim=1))
    return merged


def pad_rank(factors: dict[str, Factors], rank: int) -> dict[str, Factors]:
    """Append ranks of zeros up to `rank`: the update stays the same."""
    return {
        module: Factors(*(pad(x, (0, 0, 0, rank - x.shape[-2])) for x in (pair.A, pair.B)))
        for module, pair in factors.items()
    }


def merge_batch(
    hypernetwork: Hypernetwork,
    chunks: dict[str, Factors],
    n_chunks: Sequence[int],
    *,
    scalers: Tensor | None = None,
    bias_scaler: float = 1.0,
    user_defined_scaling: float = 1.0,
) -> dict[str, Factors]:
    """Factors of all documents' chunks, in order -> [N, L, (max(n_chunks) + 1) * r, d], shorter documents padded."""
    counts = list(n_chunks)
    parts = {module: (torch.split(pair.A, counts), torch.split(pair.B, counts)) for module, pair in chunks.items()}
    own_scalers = [None] * len(counts) if scalers is None else torch.split(scalers, counts)
    documents = []
    for index, own in enumerate(own_scalers):
        merged = merge_chunks(
            hypernetwork,
            {module: Factors(As[index], Bs[index]) for module, (As, Bs) in parts.items()},
            scalers=own,
            bias_scaler=bias_scaler,
            user_defined_scaling=user_defined_scaling,
        )
        documents.append(pad_rank(merged, (max(counts) + 1) * hypernetwork.config.rank))
    return {
        module: Factors(
            torch.stack([document[module].A for document in documents]),
            torch.stack([document[module].B for document in documents]),
        )
        for module in chunks
    }
