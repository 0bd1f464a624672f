"""What a training is told, frozen."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from imprint_trainer.protocol import Profile

from imprint_trainer.lora.profile import RATE


class LoraTraining(BaseModel):
    """Hyper-parameters of one adapter; every field is recorded in training.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    profile: Profile = "remember"
    seed: int = Field(ge=0, le=2**32 - 1)
    epochs: int | None = Field(default=None, ge=1, le=100)  # None: see lora/schedule.py
    rank: int = Field(default=16, ge=1, le=256)
    alpha: float = Field(default=32.0, gt=0)
    learning_rate: float = Field(default=RATE, gt=0, le=0.1)
    target_modules: tuple[str, ...] | None = None  # None: every linear layer but the output head
    max_length: int = Field(default=1024, ge=64)
    quantization: Literal["nf4", "none"] = "nf4"
    warmup_fraction: float = Field(default=0.06, ge=0, lt=1)
    weight_decay: float = Field(default=0.0, ge=0)
    max_grad_norm: float = Field(default=1.0, gt=0)
    betas: tuple[float, float] = (0.9, 0.999)
    accumulation: int | None = Field(default=None, ge=1)  # None: chosen from the number of windows

    @property
    def open_ended(self) -> bool:
        """Trained until the loss stops improving, or a budget ends."""
        return self.epochs is None and self.profile == "remember"
