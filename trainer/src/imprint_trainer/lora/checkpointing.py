"""Gradient checkpointing (arXiv 1604.06174): memory of one block for about a third more time."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from torch.utils.checkpoint import checkpoint

from imprint_trainer.models.causal_lm import CausalLM


@contextmanager
def checkpointed(model: CausalLM, wanted: bool = True) -> Iterator[None]:
    """While open and `wanted`, each block in training mode keeps its input alone and is run again in the backward pass:
    the same gradients, to the bit on a CPU."""
    from transformers.modeling_layers import GradientCheckpointingLayer

    blocks = [module for module in model.modules() if wanted and isinstance(module, GradientCheckpointingLayer)]
    for block in blocks:
        block.gradient_checkpointing = True
        block._gradient_checkpointing_func = partial(checkpoint, use_reentrant=False)
    try:
        yield
    finally:
        for block in blocks:
            del block.gradient_checkpointing, block._gradient_checkpointing_func
