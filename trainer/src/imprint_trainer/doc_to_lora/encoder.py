"""The context encoder (section 4): the frozen base model reads a document, cut off below its last block."""

from typing import Any, cast

import torch
from torch import Tensor, nn

from imprint_trainer.doc_to_lora.config import HypernetworkConfig
from imprint_trainer.doc_to_lora.targets import decoder
from imprint_trainer.errors import HypernetworkInvalid
from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.models.head import layer_slice


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
    normed = config.final_norm if early else blocks == depth - 1
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
