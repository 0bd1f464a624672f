"""Settings of the objective `rest`: the rest of a session, predicted without what was read of it."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]
Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class RestConfig(BaseModel):
    """What is read, what is predicted, and what is held."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # What is read and predicted
    cuts: tuple[Share, ...] = Field(default=(0.3, 0.6), min_length=1)  # shares of a session's text that come before
    chunks: tuple[Count, ...] = Field(default=(1, 2, 4, 8, 16), min_length=1)  # of a document at most; drawn
    window_length: Count = 512  # tokens of a window of the rest
    windows: Count = 4  # of each rest
    positions: Count = 160  # supervised tokens of a window that count in a step
    distillation_weight: Share = 0.0  # share of the base with the document in its context; the rest is cross-entropy
    teacher_length: Count = 4096  # tokens that the base reads then, window included
    top_k: Count = 32  # log-probabilities kept of the base's predictions; what is left is one more: the tail

    notes_share: Share = 0.25  # of the rows that ask for a fact instead, noted between the document's lines

    # What is held: one row for each document
    foreign_share: Share = 0.5  # of these rows that are windows of another group's session; the others are texts
    foreign_hold: Literal["base", "loss"] = "loss"  # to its predictions, or no token worse than the base has it
    held_positions: Count = 64
    retention_weight: Weight = 2.0
    hinge_weight: Weight = 0.5  # on how far the base's likeliest token falls behind the adapted model's own
    texts: Annotated[int, Field(ge=0)] = 200  # pieces of the files of --texts

    chunk_scaling: Literal["sum", "root"] = "root"
    generated_start: Annotated[float, Field(gt=0)] = 0.2  # factor on the generated ranks of --init, B alone
    learned_start: Annotated[float, Field(gt=0)] = 0.2  # on those that every adapter gets

    axes_texts: Count = 48  # windows, and as many texts, that the axes of A are measured on
    measure_steps: Count = 100  # steps between two looks at --dev
    measured_sessions: Count = 12  # of it at most
    kept_gigabytes: Annotated[float, Field(gt=0)] = 4.0  # of what was read, on disk beside the checkpoints
