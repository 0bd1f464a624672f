"""Checkpoints of a training: weights, optimizer state and step as safetensors + JSON, written whole or not at all."""

import json
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from imprint_trainer.data.session import first_fault
from imprint_trainer.doc_to_lora.training.config import HypernetworkTrainingConfig
from imprint_trainer.doc_to_lora.training.refusal import TrainingRefused
from imprint_trainer.optimizer_state import optimizer_tensors, restore_optimizers

STATE = "training.json"


def save_state(
    folder: Path, model: nn.Module, optimizers: list[torch.optim.Optimizer], step: int, identity: dict[str, Any]
) -> None:
    """The JSON, renamed into place last, says which weights are meant; older ones are removed after that."""
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    tensors |= optimizer_tensors(dict(model.named_parameters()), optimizers)
    weights = folder / f"training-{step:07d}.safetensors"
    save_file({key: value.detach().cpu().contiguous().clone() for key, value in tensors.items()}, weights)
    part = folder / f"{STATE}.part"
    part.write_text(json.dumps({"step": step, "weights": weights.name, "identity": identity}, indent=1) + "\n")
    part.rename(folder / STATE)
    for older in folder.glob("training-*.safetensors"):
        if older != weights:
            older.unlink()


def load_state(
    folder: Path, model: nn.Module, optimizers: list[torch.optim.Optimizer], identity: dict[str, Any]
) -> int:
    """The step to go on with; 0 where there is no checkpoint.

    A setting that was added since takes its default, with which trainings must go on as they did without it. Raises
    TrainingRefused when it belongs to another base, data or settings, or is damaged.
    """
    try:
        state = json.loads((folder / STATE).read_text(encoding="utf-8"))
        step, weights, found = int(state["step"]), folder / Path(state["weights"]).name, state["identity"]
        found["config"] = HypernetworkTrainingConfig.model_validate(found["config"]).model_dump(mode="json")
    except FileNotFoundError:
        return 0
    except ValidationError as error:
        fault = f"config.{first_fault(error)}"
        raise TrainingRefused(f"--out: {folder.name}/{STATE}: {fault}: choose another folder.") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise TrainingRefused(f"--out: {folder.name}/{STATE} is damaged: choose another folder.") from None
    if found != identity:
        changed = sorted(key for key in {*identity, *found} if found.get(key) != identity.get(key))
        raise TrainingRefused(
            f"--out: {folder.name} holds a training with another {' and '.join(changed)}: "
            "choose another folder, or the same settings to go on."
        )
    try:
        tensors = load_file(weights)
    except (OSError, SafetensorError):
        raise TrainingRefused(f"--out: {folder.name}/{weights.name} is damaged: choose another folder.") from None
    prefix = "model."
    model.load_state_dict({key[len(prefix) :]: value for key, value in tensors.items() if key.startswith(prefix)})
    restore_optimizers(dict(model.named_parameters()), optimizers, tensors)
    return step
