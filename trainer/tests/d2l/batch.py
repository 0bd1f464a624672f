"""Several documents at once, as the reference's cases have them: the product makes one at a time."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad

from doc_to_lora.merge import merge_chunks
from doc_to_lora.modeling import Hypernetwork
from imprint_trainer.lora.adapter import Factors


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
