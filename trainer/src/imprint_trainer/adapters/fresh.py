"""Puts an adapter on the resident base and takes it off again, leaving the base as it was."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from imprint_trainer.adapters.payload import adapter_config
from imprint_trainer.lora.fuse import fused
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.models.causal_lm import PeftCausalLM


def lora_config(*, rank: int, alpha: float, targets: Sequence[str]) -> Any:
    """PEFT's configuration of an adapter that is trained."""
    from peft import LoraConfig

    config = adapter_config(rank=rank, alpha=alpha, targets=targets, base_model_name="")
    return LoraConfig(**config | {"inference_mode": False, "base_model_name_or_path": None})


@contextmanager
def fresh_adapter(
    base: LoadedBase, *, rank: int, alpha: float, targets: Sequence[str], seed: int
) -> Iterator[PeftCausalLM]:
    """A PEFT model with a new, trainable adapter; B is zero, A depends on nothing but `seed`."""
    from peft import get_peft_model

    torch.manual_seed(seed)
    model = get_peft_model(base.model, lora_config(rank=rank, alpha=alpha, targets=targets))
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.float()
    try:
        with fused(model):
            yield model
    finally:
        detach(base, model)


def detach(base: LoadedBase, model: PeftCausalLM) -> None:
    """Never merges: the base's tensors are the same objects afterwards."""
    model.unload()
    base.model.requires_grad_(False)
    base.model.eval()
    if hasattr(base.model, "peft_config"):
        del base.model.peft_config
