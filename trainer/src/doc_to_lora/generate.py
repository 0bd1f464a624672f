"""A session -> a low-rank update, in one forward pass of a Doc-to-LoRA hypernetwork."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn

from doc_to_lora.config import HypernetworkConfig
from doc_to_lora.document import document_of_tokens
from doc_to_lora.merge import compress, merge_chunks
from doc_to_lora.modeling import Hypernetwork
from doc_to_lora.prompt import chunk_affixes, document_ids, split_chunks
from imprint_trainer.data.session import Session
from imprint_trainer.data.windows import Window
from imprint_trainer.errors import HypernetworkInvalid, NothingToTrain
from imprint_trainer.imprint.config import check_fits, decoder
from imprint_trainer.imprint.update import Format, Imprinted, Limits, Update
from imprint_trainer.lora.adapter import Factors
from imprint_trainer.lora.loss import Read
from imprint_trainer.models.causal_lm import CausalLM, LoadedBase
from imprint_trainer.models.head import layer_slice

BATCH_TOKENS = 4096  # ids, padding included, that the encoder holds the activations of at once
PERCEIVER_NUMBERS = 1 << 28  # that it may hold of all layers together: 1 GiB in fp32


@dataclass(frozen=True)
class DocToLora:
    """The imprint of a Doc-to-LoRA hypernetwork, which reads a session as a document."""

    network: Hypernetwork

    @property
    def config(self) -> HypernetworkConfig:
        return self.network.config

    def imprint(
        self,
        base: LoadedBase,
        session: Session,
        windows: Callable[[], Sequence[Window]],
        limits: Limits,
        *,
        read: Read,
        stop: Callable[[], None],
    ) -> Imprinted:
        """As imprint_trainer's `Hypernetwork` has it: neither the windows nor `read` are needed."""
        config = self.config
        most = most_tokens(config, base.model, max_chunk_length=limits.max_chunk_length, max_chunks=limits.max_chunks)
        document = document_of_tokens(
            session, most, lambda text: len(document_ids(base.tokenizer, config.base_model_name_or_path, text))
        )
        update = generate_update(
            self.network,
            base.model,
            base.tokenizer,
            document.text,
            max_chunk_length=limits.max_chunk_length,
            compress_rank=limits.rank,
        )
        return Imprinted(update, document.read, config, "Doc-to-LoRA, one forward pass")


DOC_TO_LORA = Format(
    "perceiver", HypernetworkConfig, lambda config, tensors, device: DocToLora(build(config, tensors, device))
)


def generate_update(
    hypernetwork: Hypernetwork,
    model: CausalLM,
    tokenizer: Any,
    text: str,
    *,
    max_chunk_length: int | None = None,
    compress_rank: int | None = None,
) -> Update:
    """`max_chunk_length` None takes the hypernetwork's own.

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
        merged = merge_chunks(hypernetwork, chunk_factors(hypernetwork, model, chunks))
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


def chunk_factors(hypernetwork: Hypernetwork, model: CausalLM, chunks: Sequence[Sequence[int]]) -> dict[str, Factors]:
    """Chunks of ids -> for each module A [K, L, r, d_in], B [K, L, r, d_out], in batches that bound the memory; a batch
    whose layers do not fit the Perceiver together goes through it one layer after the other (section 5.1)."""
    device, config = hypernetwork.head.weight.device, hypernetwork.config
    widest = config.projection_size * (config.num_layers if config.per_layer_features else 1)  # activations of an id
    parts = []
    for batch in _batches(chunks):
        ids, mask = pad_right(batch)
        features = encode(model, ids.to(model.device), mask.to(model.device), config)
        iterative = ids.numel() * widest > PERCEIVER_NUMBERS
        parts.append(hypernetwork(features.to(device), mask.to(device), iterative=iterative))
    return {
        module: Factors(torch.cat([part[module].A for part in parts]), torch.cat([part[module].B for part in parts]))
        for module in config.target_modules
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
    limit = _positions(model)
    if limit is not None and longest > limit:
        raise HypernetworkInvalid(
            f"A chunk of {longest} tokens is longer than the base model's {limit} positions: set max_chunk_length."
        )


def _positions(model: CausalLM) -> int | None:
    limit = getattr(model.config, "max_position_embeddings", None)
    return limit if isinstance(limit, int) else None


def encode(model: CausalLM, input_ids: Tensor, mask: Tensor, config: HypernetworkConfig) -> Tensor:
    """input_ids [K, S], mask [K, S] -> features [K, L, S, D], or [K, S, D] for an early exit; zero where the mask is 0.

    Map l of `per_layer_activations` is the residual stream that enters block l: map 0 the embeddings, the last one
    normed by the model's final norm (section 15.3). Shares the model's weights; the model itself is not changed.
    """
    available = len(decoder(model).layers)
    early = config.encoder == "early_exit"
    depth = config.encoder_last_layer or available  # maps that the reference would collect
    blocks = cast(int, config.exit_layer) if early else max(config.layer_indices)
    if blocks > available or (not early and blocks >= depth):
        raise HypernetworkInvalid(f"The hypernetwork reads layer {blocks} of a base model with {available} layers.")
    normed = early or blocks == depth - 1
    inputs, final = _run_blocks(model, input_ids, mask, blocks=blocks, normed=normed)
    hidden = mask.unsqueeze(-1) == 0  # [K, S, 1]
    if early:
        return final.masked_fill(hidden, 0)
    maps = [*inputs, final]
    return torch.stack([maps[layer].masked_fill(hidden, 0) for layer in config.layer_indices], dim=1)


def _run_blocks(
    model: CausalLM, input_ids: Tensor, mask: Tensor, *, blocks: int, normed: bool
) -> tuple[list[Tensor], Tensor]:
    """The inputs of the first `blocks` blocks and what leaves the last of them, each [K, S, D]."""
    cut = layer_slice(model, 0, blocks, normed=normed)
    inputs: list[Tensor] = []

    def record(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        inputs.append(args[0] if args else kwargs["hidden_states"])

    hooks = [block.register_forward_pre_hook(record, with_kwargs=True) for block in cut.layers]
    try:
        with torch.no_grad():
            output = cut(
                input_ids=input_ids,
                attention_mask=mask,
                position_ids=(mask.cumsum(-1) - 1).clamp(min=0),
                use_cache=False,
            )
    finally:
        for hook in hooks:
            hook.remove()
    return inputs, output.last_hidden_state


def expected_shapes(config: HypernetworkConfig) -> dict[str, tuple[int, ...]]:
    """Keys and shapes of a hypernetwork's state dict (section 9); allocates nothing."""
    with torch.device("meta"):
        return {key: tuple(tensor.shape) for key, tensor in Hypernetwork(config).state_dict().items()}


def check_tensors(tensors: Mapping[str, Tensor], config: HypernetworkConfig) -> None:
    """Raise HypernetworkInvalid unless the tensors are exactly those of `config`, floating and finite."""
    expected = expected_shapes(config)
    for key in sorted(expected.keys() | tensors.keys()):
        if key not in tensors:
            raise HypernetworkInvalid(f"The hypernetwork lacks the tensor {key}.")
        if key not in expected:
            raise HypernetworkInvalid(f"The hypernetwork holds a tensor that nothing uses: {key}.")
        tensor = tensors[key]
        if tuple(tensor.shape) != expected[key]:
            raise HypernetworkInvalid(f"{key} has the shape {tuple(tensor.shape)}; {expected[key]} was expected.")
        if not tensor.is_floating_point():
            raise HypernetworkInvalid(f"{key} holds {tensor.dtype}, not floating-point numbers.")
        if not bool(tensor.isfinite().all()):
            raise HypernetworkInvalid(f"{key} holds NaN or infinity.")


def build(
    config: HypernetworkConfig, tensors: Mapping[str, Tensor], device: torch.device | str = "cpu"
) -> Hypernetwork:
    """A frozen hypernetwork in fp32 and evaluation mode; raises HypernetworkInvalid when the tensors do not fit."""
    check_tensors(tensors, config)
    with torch.device("meta"):
        hypernetwork = Hypernetwork(config)
    placed = {key: tensor.to(device=device, dtype=torch.float32) for key, tensor in tensors.items()}
    hypernetwork.load_state_dict(placed, strict=True, assign=True)
    return hypernetwork.eval().requires_grad_(False)
