"""What an imprint makes of a session: a low-rank update, applied to the live model or written as PEFT reads it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import torch
from torch import Tensor, nn

from imprint_trainer.data.session import Session
from imprint_trainer.data.windows import Window
from imprint_trainer.errors import AdapterNotFinite
from imprint_trainer.imprint.config import AdapterPlace, decoder, module_path
from imprint_trainer.lora.adapter import Factors, Payload, adapter_config
from imprint_trainer.lora.loss import Read
from imprint_trainer.models.causal_lm import CausalLM, LoadedBase


@dataclass(frozen=True)
class Update:
    """Not scaled yet."""

    factors: dict[str, Factors]  # for each module A [L, R, d_in], B [L, R, d_out]
    tokens: int  # ids that were read, context and template included
    chunks: int
    uncompressed_rank: int
    compression_error: float  # of cutting to the rank, relative; 0 without


@dataclass(frozen=True)
class Coverage:
    """Characters of one kind of the session's text, and how many of them were read."""

    kind: str
    characters: int
    characters_read: int


@dataclass(frozen=True)
class Trial:
    """An update, and the windows that tell what it does."""

    factors: dict[str, Factors]
    windows: tuple[Window, ...]


@dataclass(frozen=True)
class Imprinted:
    """`read`: how much of what the session holds was read, kind by kind. `trials`: the update of each half of it, with
    the other half; none where too little was read, or the method makes none."""

    update: Update
    read: tuple[Coverage, ...]
    config: AdapterPlace
    name: str  # of the method, for the card
    trials: tuple[Trial, ...] = ()


@dataclass(frozen=True)
class Limits:
    """None: what the hypernetwork itself was made for."""

    max_chunks: int
    max_chunk_length: int | None
    rank: int | None


class Hypernetwork(Protocol):
    """What was loaded from a folder, whatever its format."""

    @property
    def config(self) -> AdapterPlace: ...

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
        """`windows`: the session's, as trainings cut them, of the length of a chunk; `read` reads one. Raises
        NothingToTrain where there is nothing to learn, HypernetworkInvalid for a base model that does not fit, and what
        `stop` raises."""
        ...


@dataclass(frozen=True)
class Format:
    """How a folder's two files are understood. `build` raises HypernetworkInvalid for tensors that do not fit."""

    kind: Literal["ridge", "perceiver"]  # as `hypernetworks list` says it
    config: type[AdapterPlace]
    build: Callable[[Any, Mapping[str, Tensor], torch.device], Hypernetwork]


@contextmanager
def applied(
    model: CausalLM, factors: dict[str, Factors], config: AdapterPlace, *, scaling: float = 1.0
) -> Iterator[None]:
    """While open, each target module computes W x + scaling * lora_alpha * B^T (A x).

    The multiplier is lora_alpha itself, not alpha / r. factors: for each module A [L, R, d_in], B [L, R, d_out].
    """
    hooks = []
    try:
        for module, pair in factors.items():
            for layer, A, B in zip(config.layer_indices, pair.A.unbind(), pair.B.unbind(), strict=True):
                target = model.get_submodule(module_path(layer, module))
                hook = _adding(A, B, scaling * config.lora_alpha)
                hooks.append(target.register_forward_hook(hook))
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _adding(A: Tensor, B: Tensor, multiplier: float) -> Any:
    def add(_: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> Tensor:
        delta = multiplier * ((args[0].to(A.dtype) @ A.mT) @ B)  # A [R, d_in], B [R, d_out]
        return (output + delta).to(output.dtype)

    return add


def to_peft(factors: dict[str, Factors], config: AdapterPlace, model: CausalLM, *, scaling: float) -> Payload:
    """The same as `applied`, as an adapter's files: the multiplier is folded into lora_B, and lora_alpha is R, which
    makes PEFT's own multiplier 1. Raises AdapterNotFinite."""
    multiplier = config.lora_alpha * scaling
    rank = next(iter(factors.values())).A.shape[-2]
    tensors = {}
    for module, pair in factors.items():
        for index, layer in enumerate(config.layer_indices):
            key = f"base_model.model.{module_path(layer, module)}"
            up = pair.B[index].mT * multiplier  # [d_out, R]: PEFT's B is the transpose
            tensors[f"{key}.lora_A.weight"] = pair.A[index].detach().to("cpu", torch.float32).contiguous()
            tensors[f"{key}.lora_B.weight"] = up.detach().to("cpu", torch.float32).contiguous()
    if not all(bool(tensor.isfinite().all()) for tensor in tensors.values()):
        raise AdapterNotFinite("The hypernetwork made an adapter with NaN or infinity.")
    settings = adapter_config(
        rank=rank, alpha=rank, targets=config.target_modules, base_model_name=config.base_model_name_or_path
    )
    everywhere = config.layer_indices == tuple(range(len(decoder(model).layers)))
    layers = {
        "layers_to_transform": None if everywhere else list(config.layer_indices),
        "layers_pattern": None if everywhere else "layers",
    }
    return Payload(tensors, settings | layers)
