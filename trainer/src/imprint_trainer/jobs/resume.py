"""Which checkpoint a LoRA job may go on from, and what is said of the machine that made it."""

from pathlib import Path
from typing import Any

import torch

from imprint_trainer.adapters.provenance import base_sha256, versions
from imprint_trainer.files import sha256_of
from imprint_trainer.jobs.context import JobContext
from imprint_trainer.jobs.identity import Identity, Request, Selection, UsedBase
from imprint_trainer.lora.checkpoints import Checkpoint, CheckpointWriter, read_checkpoint
from imprint_trainer.lora.config import LoraTraining
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.protocol import TrainLoraSpec


def writer_of(spec: TrainLoraSpec, identity: Identity, base: LoadedBase, context: JobContext) -> CheckpointWriter:
    return CheckpointWriter(
        Path(spec.checkpoint.dir),
        spec.checkpoint.seconds,
        device=base.device,
        identity=identity.to_json(),
        made_with=made_with(base),
        on_written=lambda step: context.emit({"type": "checkpoint", "step": step}),
    )


def checkpoint_of(spec: TrainLoraSpec) -> Checkpoint | None:
    """None for a training from the start. Raises CheckpointInvalid."""
    return None if spec.checkpoint.start == "fresh" else read_checkpoint(Path(spec.checkpoint.dir))


def begun_as(checkpoint: Checkpoint | None) -> Identity | None:
    """None for a training from the start. Its windows and how its base was held are taken from here: what fits by now
    may differ. Raises CheckpointInvalid."""
    return None if checkpoint is None else Identity.parse(checkpoint.state.identity)


def identity_of(spec: TrainLoraSpec, training: LoraTraining, plan: dict[str, Any], base: LoadedBase) -> Identity:
    return Identity(
        sessions={
            session_id: sha256_of(Path(path))
            for session_id, path in zip(spec.session_ids, spec.session_paths, strict=True)
        },
        base_model=UsedBase(sha256=base_sha256(base), dequantised_on_load=base.dequantised),
        request=Request(training=training, selection=selection_of(spec)),
        plan=plan,
    )


def selection_of(spec: TrainLoraSpec) -> Selection:
    return Selection.model_validate(spec.model_dump(include=set(Selection.model_fields)))


def made_with(base: LoadedBase) -> dict[str, Any]:
    return {
        "device": base.device.type,
        "number format": base.computes_in,
        "threads": torch.get_num_threads(),
        **versions(),
    }


def differences(checkpoint: Checkpoint | None, writer: CheckpointWriter) -> list[str]:
    """A warning where the adapter may differ from an uninterrupted training's in its last bits."""
    if checkpoint is None:
        return []
    before, now = checkpoint.state.made_with, writer.made_with
    names = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
    if not names:
        return []
    return [f"The checkpoint was made with another {', another '.join(names)}: an uninterrupted training may differ."]
