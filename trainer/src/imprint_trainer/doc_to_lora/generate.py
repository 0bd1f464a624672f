"""A document's text -> a PEFT adapter, in one forward pass."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from imprint_trainer.adapters.payload import Payload
from imprint_trainer.doc_to_lora.chunks import split_chunks
from imprint_trainer.doc_to_lora.compress import compress
from imprint_trainer.doc_to_lora.encoder import encode
from imprint_trainer.doc_to_lora.export import AlphaForm, to_peft
from imprint_trainer.doc_to_lora.merge import merge_chunks
from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.doc_to_lora.prompt import chunk_affixes, document_ids
from imprint_trainer.doc_to_lora.targets import check_fits, decoder
from imprint_trainer.errors import AdapterNotFinite, HypernetworkInvalid, NothingToTrain
from imprint_trainer.lora.factors import Factors
from imprint_trainer.models.causal_lm import CausalLM

BATCH_TOKENS = 4096  # ids, padding included, that the encoder holds the activations of at once


@dataclass(frozen=True)
class Generated:
    """An adapter and how it came about."""

    adapter: Payload
    tokens: int  # ids of the document, template included, affixes not
    chunks: int
    uncompressed_rank: int
    compression_error: float  # relative Frobenius error; 0 without compression


def generate_adapter(
    hypernetwork: Hypernetwork,
    model: CausalLM,
    tokenizer: Any,
    text: str,
    *,
    max_chunk_length: int | None = None,
    scaling: float = 1.0,
    compress_rank: int | None = None,
    form: AlphaForm = "folded",
    pad_to: int | None = None,
    autocast: bool = False,
) -> Generated:
    """`scaling` multiplies the whole update, bias included; 1 is the reference. `max_chunk_length` None takes the
    hypernetwork's own. `autocast` runs the Perceiver in bf16, as the reference does on a GPU.

    Raises NothingToTrain for an empty text, HypernetworkInvalid for a base model that does not fit or a chunk longer
    than it can read, AdapterNotFinite.
    """
    config = hypernetwork.config
    check_fits(model, config)
    if not text.strip():
        raise NothingToTrain("The document is empty.")
    name = config.base_model_name_or_path
    ids = document_ids(tokenizer, name, text)
    length = config.max_chunk_length if max_chunk_length is None else max_chunk_length
    chunks = split_chunks(ids, length, chunk_affixes(tokenizer, name))
    _check_length(model, max(map(len, chunks)))
    with torch.inference_mode():
        merged = merge_chunks(hypernetwork, chunk_factors(hypernetwork, model, chunks, autocast=autocast))
        rank = next(iter(merged.values())).A.shape[-2]
        compressed = compress(merged, rank if compress_rank is None else compress_rank)
    adapter = to_peft(
        compressed.factors,
        config,
        base_layers=len(decoder(model).layers),
        scaling=scaling,
        form=form,
        pad_to=pad_to,
    )
    if not all(bool(tensor.isfinite().all()) for tensor in adapter.tensors.values()):
        raise AdapterNotFinite("The hypernetwork made an adapter with NaN or infinity.")
    return Generated(adapter, len(ids), len(chunks), rank, compressed.error)


def chunk_factors(
    hypernetwork: Hypernetwork, model: CausalLM, chunks: Sequence[Sequence[int]], *, autocast: bool = False
) -> dict[str, Factors]:
    """Chunks of ids -> for each module A [K, L, r, d_in], B [K, L, r, d_out], in batches that bound the memory."""
    device = hypernetwork.head.weight.device
    parts = []
    for batch in _batches(chunks):
        ids, mask = pad_right(batch)
        features = encode(model, ids.to(model.device), mask.to(model.device), hypernetwork.config)
        parts.append(hypernetwork(features.to(device), mask.to(device), autocast=autocast))
    return {
        module: Factors(torch.cat([part[module].A for part in parts]), torch.cat([part[module].B for part in parts]))
        for module in hypernetwork.config.target_modules
    }


def pad_right(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Ids and mask [K, S]; contexts are padded on the right with id 0 (section 19.2)."""
    width = max(map(len, rows))
    ids = torch.tensor([[*row, *([0] * (width - len(row)))] for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
    return ids, mask


def _batches(chunks: Sequence[Sequence[int]]) -> Iterable[Sequence[Sequence[int]]]:
    rows = max(1, BATCH_TOKENS // max(map(len, chunks)))
    return (chunks[start : start + rows] for start in range(0, len(chunks), rows))


def _check_length(model: CausalLM, longest: int) -> None:
    limit = getattr(model.config, "max_position_embeddings", None)
    if isinstance(limit, int) and longest > limit:
        raise HypernetworkInvalid(
            f"A chunk of {longest} tokens is longer than the base model's {limit} positions: set max_chunk_length."
        )
