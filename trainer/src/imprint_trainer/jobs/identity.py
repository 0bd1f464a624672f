"""What decides every number of a LoRA training: one goes on from a checkpoint only where all of it is the same."""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from imprint_trainer.errors import CheckpointMismatch
from imprint_trainer.lora.checkpoints import STATE
from imprint_trainer.lora.config import LoraTraining
from imprint_trainer.lora.state_file import unusable
from imprint_trainer.protocol import Holdout, TrainOn

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
