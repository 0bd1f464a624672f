"""Adapters for exports: random factors of a realistic size on a model's own layers."""

from pathlib import Path
from typing import Any

import torch

from imprint_trainer.lora.adapter import Payload, adapter_config
from imprint_trainer.models.supported import linear_layers
from imprint_trainer.publish.peft_format import Source, read_source, write_weights


def random_payload(model: Any, *, rank: int = 4, alpha: float = 6.0, size: float = 0.1, seed: int = 3) -> Payload:
    """An update of every linear layer; `size` is about the norm of each update against its weight's."""
    generator = torch.Generator().manual_seed(seed)
    tensors, targets = {}, set()
    for name in linear_layers(model):
        weight = model.get_submodule(name).weight
        a = torch.randn(rank, weight.shape[1], generator=generator)
        b = torch.randn(weight.shape[0], rank, generator=generator)
        b *= size * float(weight.float().norm() / (alpha / rank * (b @ a).norm()))
        tensors[f"base_model.model.{name}.lora_A.weight"] = a
        tensors[f"base_model.model.{name}.lora_B.weight"] = b
        targets.add(name.rsplit(".", 1)[-1])
    return Payload(tensors, adapter_config(rank=rank, alpha=alpha, targets=sorted(targets), base_model_name="tiny"))


def write_adapter(folder: Path, payload: Payload) -> Path:
    folder.mkdir()
    write_weights(folder, payload)
    return folder


def source_of(folder: Path, payload: Payload) -> Source:
    return read_source(write_adapter(folder, payload))
