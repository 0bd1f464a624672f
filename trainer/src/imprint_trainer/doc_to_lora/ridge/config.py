"""Settings of a ridge hypernetwork: how far what it got wrong in a session moves the base, and what holds it."""

from typing import Annotated, Literal

from pydantic import Field

from imprint_trainer.doc_to_lora.config import AdapterPlace, Size

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class RidgeConfig(AdapterPlace):
    """Defaults are those that were measured best on recorded sessions (docs/imprints.md)."""

    kind: Literal["ridge"] = "ridge"
    rank: Size = 128
    lora_alpha: float = Field(default=1.0, gt=0, allow_inf_nan=False)

    # What is read
    most_supervised: Size = 4096  # tokens of the agent
    least_supervised: Size = 64  # of a session with fewer, another hypernetwork of the base is asked where there is one

    # The solution
    step: Positive = 0.01  # of the natural gradient, shared by the layers
    ridge: Positive = 300.0  # supervised tokens that the inputs of ordinary text weigh as much as
    damping: Positive = 0.1  # of the errors' second moment, as a share of its mean
    axes: Size  # that each layer's second moment is kept in, beside its diagonal
