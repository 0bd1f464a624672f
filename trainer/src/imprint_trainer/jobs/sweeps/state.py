"""What a sweep has found so far, in a file beside its trials' checkpoints: a sweep that goes on begins with it."""

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from imprint_trainer.files import write_json
from imprint_trainer.lora.state_file import read_state_file

STATE = "sweep.json"
FORMAT = 1  # stepped when a field that is stored comes to mean something else

TrialState = Literal["waiting", "training", "paused", "stopped", "finished", "failed"]


class Point(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    step: int = Field(ge=0)
    loss: float


class Trial(BaseModel):
    """The contracts' `Trial`."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    trial: int = Field(ge=1)
    rank: int
    alpha: float
    learning_rate: float
    epochs: int
    steps: int = 0
    max_steps: int
    state: TrialState = "waiting"
    curve: tuple[Point, ...] = ()
    loss_before: float | None = None
    loss_after: float | None = None
    interval: tuple[float, float] | None = None

    @property
    def goes_on(self) -> bool:
        return self.state not in ("stopped", "failed")


class Found(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    format: int = FORMAT
    identity: dict[str, Any]  # of the widest trial: see jobs/identity.py
    trials: tuple[Trial, ...]
    halved: int = 0  # halvings that are done

    def replaced(self, trial: Trial) -> "Found":
        trials = tuple(trial if one.trial == trial.trial else one for one in self.trials)
        return self.model_copy(update={"trials": trials})


def write_found(folder: Path, found: Found) -> None:
    """Whole or not at all; the folder counts as just written from then on."""
    part = folder / f"{STATE}.part"
    write_json(part, found.model_dump(mode="json"))
    part.chmod(0o600)
    part.replace(folder / STATE)


def read_found(folder: Path) -> Found:
    """Raises CheckpointInvalid."""
    return read_state_file(folder / STATE, Found, FORMAT)
