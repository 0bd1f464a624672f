"""A document's text -> a PEFT adapter, in one forward pass."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from imprint_trainer.doc_to_lora.chunks import split_chunks
from imprint_trainer.doc_to_lora.compress import compress
from imprint_trainer.doc_to_lora.config import AdapterPlace, HypernetworkConfig
from imprint_trainer.doc_to_lora.encoder import encode
from imprint_trainer.doc_to_lora.export import AlphaForm, to_peft
from imprint_trainer.doc_to_lora.merge import merge_chunks
from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.doc_to_lora.prompt import chunk_affixes, document_ids
from imprint_trainer.doc_to_lora.targets import check_fits, decoder
from imprint_trainer.errors import AdapterNotFinite, HypernetworkInvalid, NothingToTrain
from imprint_trainer.lora.adapter import Factors, Payload
from imprint_trainer.models.causal_lm import CausalLM

BATCH_TOKENS = 4096  # ids, padding included, that the encoder holds the activations of at once
PERCEIVER_NUMBERS = 1 << 28  # that it may hold of all layers together: 1 GiB in fp32


@dataclass(frozen=True)
class Update:
    """What a hypernetwork makes of a document, not scaled yet."""

    factors: dict[str, Factors]  # for each module A [L, R, d_in], B [L, R, d_out]
    tokens: int  # ids of the document, template included, affixes not
    chunks: int
    uncompressed_rank: int
    compression_error: float  # relative Frobenius error; 0 without compression


@dataclass(frozen=True)
class Generated(Update):
    """An adapter and how it came about."""

    adapter: Payload


def generate_adapter(
    hypernetwork: Hypernetwork,
    model: CausalLM,
    tokenizer: Any,
    text: str,
    *,
    scaling: float = 1.0,
    form: AlphaForm = "folded",
    pad_to: int | None = None,
    max_chunk_length: int | None = None,
    compress_rank: int | None = None,
    autocast: bool = False,
) -> Generated:
    """`generate_update` and `adapter_of` in one. Raises what they raise."""
    update = generate_update(
        hypernetwork,
        model,
        tokenizer,
        text,
        max_chunk_length=max_chunk_length,
        compress_rank=compress_rank,
        autocast=autocast,
    )
    adapter = adapter_of(update, hypernetwork.config, model, scaling=scaling, form=form, pad_to=pad_to)
    return Generated(**vars(update), adapter=adapter)


def generate_update(
    hypernetwork: Hypernetwork,
    model: CausalLM,
    tokenizer: Any,
    text: str,
    *,
    max_chunk_length: int | None = None,
    compress_rank: int | None = None,
    autocast: bool = False,
) -> Update:
    """`max_chunk_length` None takes the hypernetwork's own. `autocast` runs the Perceiver in bf16, as the reference
    does on a GPU.

    Raises NothingToTrain for an empty text, HypernetworkInvalid for a base model that does not fit or a chunk longer
    than it can read.
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
    return Update(compressed.factors, len(ids), len(chunks), rank, compressed.error)


def most_tokens(
    config: HypernetworkConfig, model: CausalLM, *, max_chunk_length: int | None = None, max_chunks: int
) -> int:
    """Ids, template included, of a document that is read in `max_chunks` chunks; at once, where chunks have no length:
    then as many as the base model has positions for, and one batch holds."""
    length = config.max_chunk_length if max_chunk_length is None else max_chunk_length
    if length is None:
        return min(BATCH_TOKENS, _positions(model) or BATCH_TOKENS)
    return max_chunks * length


def adapter_of(
    update: Update,
    config: AdapterPlace,
    model: CausalLM,
    *,
    scaling: float,
    form: AlphaForm = "folded",
    pad_to: int | None = None,
) -> Payload:
    """`scaling` multiplies the whole update, bias included; 1 is the reference. Raises AdapterNotFinite."""
    adapter = to_peft(
        update.factors,
        config,
        base_layers=len(decoder(model).layers),
        scaling=scaling,
        form=form,
        pad_to=pad_to,
    )
    if not all(bool(tensor.isfinite().all()) for tensor in adapter.tensors.values()):
        raise AdapterNotFinite("The hypernetwork made an adapter with NaN or infinity.")
    return adapter


def chunk_factors(
    hypernetwork: Hypernetwork, model: CausalLM, chunks: Sequence[Sequence[int]], *, autocast: bool = False
) -> dict[str, Factors]:
    """Chunks of ids -> for each module A [K, L, r, d_in], B [K, L, r, d_out], in batches that bound the memory; a batch
    whose layers do not fit the Perceiver together goes through it one layer after the other (section 5.1)."""
    device = hypernetwork.head.weight.device
    parts = []
    for batch in _batches(chunks):
        ids, mask = pad_right(batch)
        features = encode(model, ids.to(model.device), mask.to(model.device), hypernetwork.config)
        iterative = perceiver_numbers(hypernetwork.config, ids.numel()) > PERCEIVER_NUMBERS
        parts.append(hypernetwork(features.to(device), mask.to(device), iterative=iterative, autocast=autocast))
    return {
        module: Factors(torch.cat([part[module].A for part in parts]), torch.cat([part[module].B for part in parts]))
        for module in hypernetwork.config.target_modules
    }


def perceiver_numbers(config: HypernetworkConfig, tokens: int) -> int:
    """Activations of the projection, the widest there, of a batch of so many ids in one pass over all layers."""
    return tokens * config.projection_size * (config.num_layers if config.per_layer_features else 1)


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
    limit = _positions(model)
    if limit is not None and longest > limit:
        raise HypernetworkInvalid(
            f"A chunk of {longest} tokens is longer than the base model's {limit} positions: set max_chunk_length."
        )


def _positions(model: CausalLM) -> int | None:
    limit = getattr(model.config, "max_position_embeddings", None)
    return limit if isinstance(limit, int) else None
