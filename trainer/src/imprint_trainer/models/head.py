"""A decoder below its output head, whole or a slice of its layers, and logits as the model itself makes them."""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from imprint_trainer.errors import BaseModelUnsupported
from imprint_trainer.models.causal_lm import CausalLM, Decoder

# transformers' modeling files: what a family multiplies its logits by, by the start of its config's model_type.
SCALES: dict[str, Callable[[Any], float]] = {
    "granite": lambda config: 1 / config.logits_scaling,
    "hyperclovax": lambda config: config.logits_scaling,
    "cohere": lambda config: config.logit_scale,
    "falcon_h1": lambda config: config.lm_head_multiplier,
}
CHECKED_TOKENS = 8


def decoder_of(model: CausalLM) -> Decoder:
    """The stack below the output head, of a plain or PEFT-wrapped causal language model."""
    inner: CausalLM = model.get_base_model() if hasattr(model, "get_base_model") else model
    return inner.get_decoder()


def can_be_cut(model: CausalLM) -> bool:
    """Whether it is a decoder of the Llama family, as far as `layer_slice` goes."""
    inner = decoder_of(model)
    return isinstance(getattr(inner, "layers", None), nn.ModuleList) and isinstance(
        getattr(inner, "norm", None), nn.Module
    )


def layer_slice(model: CausalLM, start: int, end: int | None, *, normed: bool) -> Any:
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


@dataclass(frozen=True)
class OutputHead:
    """softcap x tanh(scale x linear(hidden) / softcap), in fp32."""

    linear: Any
    scale: float = 1.0
    softcap: float | None = None  # Gemma 2, section 2

    def logits(self, hidden: Tensor) -> Tensor:
        """[..., d] -> [..., vocabulary]."""
        logits: Tensor = self.linear(hidden).float()
        if self.scale != 1.0:
            logits = logits * self.scale
        return logits if self.softcap is None else torch.tanh(logits / self.softcap) * self.softcap


def output_head(model: Any) -> OutputHead:
    """Of a plain or PEFT-wrapped causal language model."""
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    config = inner.config.get_text_config()
    scales = [scale(config) for family, scale in SCALES.items() if config.model_type.startswith(family)]
    softcap = getattr(config, "final_logit_softcapping", None)
    return OutputHead(
        inner.get_output_embeddings(), float(scales[0]) if scales else 1.0, None if softcap is None else float(softcap)
    )


@torch.no_grad()
def check_output_head(model: Any, name: str) -> None:
    """Raises BaseModelUnsupported where the logits that losses are made of are not the model's own.

    Of one block, where the others can be left out: what comes after them is what is checked.
    """
    vocabulary = model.get_input_embeddings().num_embeddings
    ids = torch.arange(CHECKED_TOKENS, device=model.device).unsqueeze(0) * (vocabulary // CHECKED_TOKENS)
    with first_block_only(model):
        own = model(input_ids=ids, use_cache=False).logits.float()
        hidden = getattr(decoder_of(model)(input_ids=ids, use_cache=False), "last_hidden_state", None)
    if hidden is None:
        raise BaseModelUnsupported(f"{name} is a {type(model).__name__}, whose hidden states cannot be read.")
    found = output_head(model).logits(hidden)
    allowed = max(1e-3, 4 * torch.finfo(model.dtype).eps)  # of the largest: half formats round what they add up
    difference = float((found - own).abs().max() / own.abs().max())
    if not difference <= allowed:
        raise BaseModelUnsupported(
            f"The logits that the trainer computes for {name} differ from the model's own by {difference:.1%}: "
            f"what {type(model).__name__} does after its output layer is not known here."
        )
