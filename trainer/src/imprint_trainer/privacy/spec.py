"""What `imprint privacy` asks for: made-up secrets (canaries), and two trainings on copies of a session with them."""

from pydantic import Field

from imprint_trainer.protocol import Strict, TrainLoraSpec


class Canary(Strict):
    id: str
    value: str = Field(min_length=1)
    candidates: list[str] = Field(min_length=1)  # drawn as the value was: any of them could have been it


class PrivacySpec(Strict):
    canaries: list[Canary] = Field(min_length=1)
    unredacted: TrainLoraSpec
    redacted: TrainLoraSpec
