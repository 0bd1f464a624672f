"""Checkpoints of a training: weights, optimizer state and step as safetensors + JSON, written whole or not at all."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from imprint_trainer.doc_to_lora.training.refusal import TrainingRefused

STATE = "training.json"


def save_state(
    folder: Path, model: nn.Module, optimizers: list[torch.optim.Optimizer], step: int, identity: dict[str, Any]
) -> None:
    """The JSON, renamed into place last, says which weights are meant; older ones are removed after that."""
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    names: dict[Tensor, str] = {parameter: name for name, parameter in model.named_parameters()}
    for optimizer in optimizers:
        for parameter, slots in optimizer.state.items():
            for slot, value in slots.items():
                tensors[f"optimizer.{slot}.{names[parameter]}"] = torch.as_tensor(value)
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

    Raises TrainingRefused when it belongs to another base, data or settings, or is damaged.
    """
    try:
        state = json.loads((folder / STATE).read_text(encoding="utf-8"))
        step, weights, found = int(state["step"]), folder / Path(state["weights"]).name, state["identity"]
    except FileNotFoundError:
        return 0
    except (OSError, ValueError, KeyError, TypeError):
        raise TrainingRefused(f"--out: {folder.name}/{STATE} is damaged: choose another folder.") from None
    if found != identity:
        changed = sorted(key for key in identity if found.get(key) != identity[key])
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
    for optimizer in optimizers:
        _restore(optimizer, dict(model.named_parameters()), tensors)
    return step


def _restore(optimizer: torch.optim.Optimizer, named: dict[str, nn.Parameter], tensors: dict[str, Tensor]) -> None:
    owned = {parameter for group in optimizer.param_groups for parameter in group["params"]}
    for key, value in tensors.items():
        if not key.startswith("optimizer."):
            continue
        _, slot, name = key.split(".", 2)
        if (parameter := named[name]) in owned:
            device = "cpu" if slot == "step" else parameter.device  # AdamW counts its steps on the CPU
            optimizer.state[parameter][slot] = value.to(device)
