"""What the first process and a member tell each other, a JSON line each."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from imprint_trainer.data.windows import Window
from imprint_trainer.memory_model import Quantization


class Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class First(Message):
    """What a member is told first: who and where it is, and of which base. `store`: where all meet."""

    number: int = Field(ge=1)
    processes: int = Field(ge=2)
    store: str
    base_model: str
    device: str
    threads: int = Field(ge=1)


class Setup(First):
    """All that a member's share of a step depends on but the factors."""

    type: Literal["setup"] = "setup"
    quantization: Quantization
    dequantised: bool
    rank: int
    alpha: float
    targets: list[str]
    seed: int
    checkpointing: bool
    scarce: bool
    windows: list[tuple[list[int], list[bool]]]  # token ids, and which of them are supervised

    def read_windows(self) -> list[Window]:
        return [Window(tuple(ids), tuple(supervised)) for ids, supervised in self.windows]


class Hold(First):
    """A part of a base to hold, before any training."""

    type: Literal["hold"] = "hold"


class Gather(Message):
    """A block of that base, which the first process is about to run alone."""

    type: Literal["gather"] = "gather"
    block: int


class Share(Message):
    """A member's windows of one step."""

    type: Literal["share"] = "share"
    windows: list[int]  # indices
    supervised: int  # tokens of the whole step
    passes: int  # of the process with most windows, in which all take part who hold the base together


class Loaded(Message):
    type: Literal["loaded"] = "loaded"


class Losses(Message):
    """Sums (nats) of each window of a share, in its order."""

    type: Literal["losses"] = "losses"
    losses: list[float]


class Failed(Message):
    type: Literal["failed"] = "failed"
    code: str
    message: str


Order = Annotated[Setup | Hold | Gather | Share, Field(discriminator="type")]
Answer = Annotated[Loaded | Losses | Failed, Field(discriminator="type")]
orders: TypeAdapter[Order] = TypeAdapter(Order)
answers: TypeAdapter[Answer] = TypeAdapter(Answer)


def windows_of(windows: Sequence[Window]) -> list[tuple[list[int], list[bool]]]:
    return [(list(window.input_ids), list(window.supervised)) for window in windows]
