"""A ridge hypernetwork from its folder."""

from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from imprint_trainer.doc_to_lora.checkpoint import store
from imprint_trainer.doc_to_lora.ridge.config import RidgeConfig
from imprint_trainer.doc_to_lora.ridge.statistics import Statistics, from_tensors
from imprint_trainer.errors import HypernetworkInvalid


@dataclass(frozen=True)
class Ridge:
    config: RidgeConfig
    statistics: Statistics


def load_ridge(folder: Path, *, device: torch.device | str = "cpu") -> Ridge:
    """Raises HypernetworkInvalid when a file is missing, damaged, of another kind, or does not fit."""
    config = store.read_config(folder)
    if not isinstance(config, RidgeConfig):
        raise HypernetworkInvalid(f"{folder.name} is no ridge hypernetwork.")
    try:
        tensors = load_file(folder / store.WEIGHTS_FILE)
    except (OSError, SafetensorError):
        raise HypernetworkInvalid(f"{folder.name}/{store.WEIGHTS_FILE} is missing, truncated or damaged.") from None
    return Ridge(config, from_tensors({key: tensor.to(device) for key, tensor in tensors.items()}, config))
