"""Some consecutive blocks of a frozen decoder, run as a decoder of their own."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from imprint_trainer.models.causal_lm import CausalLM, Decoder


def decoder_of(model: CausalLM) -> Decoder:
    """The stack below the output head, of a plain or PEFT-wrapped causal language model."""
    inner: CausalLM = model.get_base_model() if hasattr(model, "get_base_model") else model
    return inner.get_decoder()


def can_be_cut(model: CausalLM) -> bool:
    """Whether it is a decoder of the Llama family, as far as `section` goes."""
    inner = decoder_of(model)
    return isinstance(getattr(inner, "layers", None), nn.ModuleList) and isinstance(
        getattr(inner, "norm", None), nn.Module
    )


def section(model: CausalLM, start: int, end: int | None, *, normed: bool) -> Any:
    """Blocks `start` to `end` of a causal language model of the Llama family, without its final norm unless `normed`.

    Shares the model's modules, an adapter on them included; the model itself is not changed.
    """
    inner: Any = decoder_of(model)
    cut = copy.copy(inner)
    cut._modules = dict(inner._modules)  # the copy's own table: the model keeps all of its blocks
    cut.layers = nn.ModuleList(list(inner.layers)[start:end])
    if getattr(inner.config, "layer_types", None):
        # Masks and positions are chosen by a block's place in the list, which begins at `start` here.
        cut.config = copy.copy(inner.config)
        cut.config.layer_types = inner.config.layer_types[start:end]
    if not normed:
        cut.norm = nn.Identity()
    return cut


@contextmanager
def first_block_only(model: Any) -> Iterator[None]:
    """While open, the model has one block, which is quick to run; no change where its decoder cannot be cut."""
    if not can_be_cut(model):
        yield
        return
    inner = decoder_of(model)
    blocks = inner.layers
    inner.layers = blocks[:1]
    try:
        yield
    finally:
        inner.layers = blocks


@contextmanager
def entered_by(cut: Any, hidden: Tensor) -> Iterator[None]:
    """While open, the first block of `cut` reads `hidden` [B, S, D], whatever its embeddings are and are scaled by."""

    def replace(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return ((hidden, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": hidden})

    hook = cut.layers[0].register_forward_pre_hook(replace, with_kwargs=True)
    try:
        yield
    finally:
        hook.remove()
