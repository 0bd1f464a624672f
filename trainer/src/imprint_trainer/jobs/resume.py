"""Which checkpoint a LoRA job may go on from: one where everything that decides its numbers is the same."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from imprint_trainer.errors import CheckpointMismatch
from imprint_trainer.files import sha256_of
from imprint_trainer.jobs.context import JobContext
from imprint_trainer.lora.checkpoint import STATE, Checkpoint, CheckpointWriter, read_checkpoint, unusable
from imprint_trainer.lora.steps import LoraTraining
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.protocol import Holdout, TrainLoraSpec, TrainOn
from imprint_trainer.publish.provenance import base_sha256, versions

SESSION = "session "
OF_THE_MACHINE = ("memory", "gradient_checkpointing")  # keys of a plan that change no number of the training


class Stored(BaseModel):
    """A field that was added since a checkpoint was written takes its default, with which trainings go on as they did
    without it. Any other change of what a field says is a step of `lora.checkpoints.FORMAT`."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, regex_engine="python-re")


class Selection(Stored):
    """Which turns of the sessions are trained."""

    train_on: TrainOn
    reasoning: bool
    include_unsuccessful: bool
    skip_invalid: bool
    holdout: Holdout = "none"


class Request(Stored):
    training: LoraTraining
    selection: Selection


class UsedBase(Stored):
    sha256: str
    dequantised_on_load: bool


class Identity(Stored):
    """`identity` of checkpoint.json, whose keys stand in sentences."""

    sessions: dict[str, str]  # SHA-256 by id; each is a key of its own in the file
    base_model: UsedBase = Field(alias="base model")
    request: Request
    plan: dict[str, Any] = Field(alias="training plan")  # the contracts' TrainingPlan: follows from the others

    @classmethod
    def parse(cls, stored: Mapping[str, Any]) -> Self:
        """Raises CheckpointInvalid."""
        sessions = {key.removeprefix(SESSION): value for key, value in stored.items() if key.startswith(SESSION)}
        others = {key: value for key, value in stored.items() if not key.startswith(SESSION)}
        try:
            return cls.model_validate({**others, "sessions": sessions})
        except ValidationError as error:
            raise unusable(error, STATE) from error

    def to_json(self) -> dict[str, Any]:
        others = self.model_dump(mode="json", by_alias=True, exclude={"sessions"})
        return {**{f"{SESSION}{session_id}": digest for session_id, digest in self.sessions.items()}, **others}

    def require_same(self, stored: Mapping[str, Any]) -> None:
        """Raises CheckpointMismatch, or CheckpointInvalid for fields that are missing or not known."""
        before = self.parse(stored)
        differing = [
            f"{SESSION}{session_id}"
            for session_id in {**self.sessions, **before.sessions}
            if self.sessions.get(session_id) != before.sessions.get(session_id)
        ]
        if self.base_model != before.base_model:
            differing.append("base model")
        if self.request != before.request:
            differing.append("request")
        deciding = before.plan.keys() - set(OF_THE_MACHINE)
        if not differing and any(self.plan.get(key) != before.plan[key] for key in deciding):
            differing.append("training plan")
        if differing:
            raise CheckpointMismatch(f"the checkpoint was made with another {', another '.join(differing)}")


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
