"""Which checkpoint a LoRA job may go on from, and what is said of the machine that made it."""

from pathlib import Path
from typing import Any

import torch

from imprint_trainer.adapters.provenance import base_sha256, versions
from imprint_trainer.adapters.write import sha256_of
from imprint_trainer.jobs.context import JobContext
from imprint_trainer.lora.checkpoints import Checkpoint, Keeper, read_checkpoint
from imprint_trainer.lora.config import LoraTraining
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.protocol import TrainLoraSpec


def keeper_of(
    spec: TrainLoraSpec, training: LoraTraining, plan: dict[str, Any], base: LoadedBase, context: JobContext
) -> Keeper:
    return Keeper(
        Path(spec.checkpoint.dir),
        spec.checkpoint.seconds,
        device=base.device,
        identity=identity_of(spec, training, plan, base),
        made_with=made_with(base),
        on_kept=lambda step: context.emit({"type": "checkpoint", "step": step}),
    )


def checkpoint_of(spec: TrainLoraSpec, keeper: Keeper) -> Checkpoint | None:
    """None for a training from the start. Raises CheckpointInvalid, CheckpointMismatch."""
    return None if spec.checkpoint.start == "fresh" else read_checkpoint(keeper.folder, keeper.identity)


def identity_of(spec: TrainLoraSpec, training: LoraTraining, plan: dict[str, Any], base: LoadedBase) -> dict[str, Any]:
    """What decides every number of the training; the keys stand in sentences."""
    return {
        **{
            f"session {session_id}": sha256_of(Path(path))
            for session_id, path in zip(spec.session_ids, spec.session_paths, strict=True)
        },
        "base model": {"sha256": base_sha256(base), "dequantised_on_load": base.dequantised},
        "request": {
            "training": training.model_dump(mode="json"),
            "selection": selection_of(spec),
        },
        "training plan": plan,
    }


def selection_of(spec: TrainLoraSpec) -> dict[str, Any]:
    return spec.model_dump(mode="json", include={"train_on", "reasoning", "include_unsuccessful", "skip_invalid"})


def made_with(base: LoadedBase) -> dict[str, Any]:
    return {"device": base.device.type, "threads": torch.get_num_threads(), **versions()}


def differences(checkpoint: Checkpoint | None, keeper: Keeper) -> list[str]:
    """A warning where the adapter may differ from an uninterrupted training's in its last bits."""
    if checkpoint is None:
        return []
    before, now = checkpoint.state.made_with, keeper.made_with
    names = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
    if not names:
        return []
    return [f"The checkpoint was made with another {', another '.join(names)}: an uninterrupted training may differ."]
