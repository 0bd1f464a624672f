"""Settings of a hypernetwork training: frozen values that round-trip through JSON."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from imprint_trainer.doc_to_lora.training.rest.config import RestConfig
from imprint_trainer.doc_to_lora.training.synthetic import NUMERIC_KINDS

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]

PROSE_TOKENS = 64  # of a text that the base model writes
# Numbers are learned in 200 steps: words are drawn more often.
WORDS = ("word", "word", "command", "command", "file", "file", "branch", "branch", "owner", "owner", "owner")


class Stage(BaseModel):
    """What documents look like until a share of all steps is done."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    until: Share
    kinds: tuple[str, ...] | None = (*NUMERIC_KINDS, *WORDS)  # each as often as it is named; None: all alike
    max_facts: Count = 1
    alike: Share = 0.0  # chance that another fact is of the kind that is asked for, so that its entity alone tells
    max_fillers: Annotated[int, Field(ge=0)] = 1
    max_chunks: Count = 1


class Shape(BaseModel):
    """Sizes of a small hypernetwork. None takes the named share of what the base model has."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    exit_layer: Count | None = None  # 2/15 of the layers; a token's features still tell which it is
    first_layer: Annotated[int, Field(ge=0)] | None = None  # after 3/4 of the layers
    num_layers: Count | None = None  # from there to the last
    rank: Count = 8
    latent_size: Count | None = None  # 5/9 of the hidden size
    projection_size: Count | None = None  # 2/3 of the hidden size
    blocks: Count = 2
    heads: Count | None = None  # as many as the latents hold
    head_dim: Count = 32
    hidden_size: Count | None = None  # 4/9 of the base's
    basis_size: Count | None = None  # 1/3 of the target's inputs


class RetentionConfig(BaseModel):
    """Questions whose answers an adapter must leave alone, and prose."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    share: Share = 0.5  # chance that a document also gets such a row
    weight: Annotated[float, Field(ge=0)] = 2.0
    final_weight: Annotated[float, Field(ge=0)] = 5.0  # once the rate falls: other texts must come out as they were
    unrelated: Annotated[int, Field(ge=0, le=250)] = 120  # questions about the world
    own: Annotated[int, Field(ge=0)] = 240  # questions that the base model asks itself
    foreign: Annotated[int, Field(ge=0)] = 1000  # questions about entities of no document, once those have two facts
    foreign_odds: Annotated[float, Field(gt=0)] = 1.0  # of drawing one of these, to 1 for questions and 1 for prose
    prose: Annotated[int, Field(ge=0)] = 192  # texts that the base model writes outside of any chat, held in pieces
    answer_tokens: Count = 16  # of the base model's answer, or of a piece of a text, that are held
    positions: Count = 8  # of a row that are held in a step

    @property
    def rows(self) -> int:
        """Questions, and pieces of prose where every text is as long as it may be."""
        return self.unrelated + self.own + self.foreign + self.prose * -(-PROSE_TOKENS // self.answer_tokens)


class HypernetworkTrainingConfig(BaseModel):
    """One training. The same config on the same machine gives the same weights."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    objective: Literal["questions", "rest"] = "questions"  # what follows in a session, without what was read of it
    rest: RestConfig = RestConfig()
    seed: Annotated[int, Field(ge=0)] = 0
    steps: Count = 2000
    documents: Count = 16  # contexts in a step
    questions: Count = 2000  # synthetic ones of each kind: too many to learn by heart, few enough to remember many
    statements: Count = 1500  # synthetic ones that the start is fitted on
    retention: RetentionConfig = RetentionConfig()
    distillation_weight: Share = 0.0  # share of the teacher's top-k in the loss on answers; the rest is cross-entropy
    top_k: Count = 32  # teacher log-probabilities kept for a position
    l1: Annotated[float, Field(ge=0)] = 0.0  # mean |A| + |B| (section 11.1)
    muon_learning_rate: Annotated[float, Field(gt=0)] = 0.008  # spectral norm of a step: the same at every width
    adamw_learning_rate: Annotated[float, Field(gt=0)] = 1e-3
    warmup_steps: Annotated[int, Field(ge=0)] = 20
    decay: Share = 0.5  # last share of the steps, linear to zero
    whole_prompt: Share = 0.2  # chance that adapters act on every token in a step, as in use
    max_grad_norm: Annotated[float, Field(gt=0)] = 1.0
    checkpoint_steps: Count = 200
    shape: Shape = Shape()
    stages: tuple[Stage, ...] = (
        Stage(until=0.1, kinds=("code",), max_fillers=0),  # the order of what is copied
        Stage(until=0.4),
        Stage(until=0.85, max_facts=2, max_fillers=3),
        Stage(until=1.0, max_facts=3, max_fillers=20, max_chunks=4),
    )

    @model_validator(mode="after")
    def _stages_cover_the_training(self) -> Self:
        ends = [stage.until for stage in self.stages]
        if not ends or ends != sorted(ends) or ends[-1] != 1.0:
            raise ValueError("stages must rise to until = 1.0")
        return self

    def stage(self, step: int) -> Stage:
        """The stage that a step belongs to."""
        return next(stage for stage in self.stages if step < stage.until * self.steps or stage.until == 1.0)

    def retention_weight(self, step: int) -> float:
        """Of the retention loss in the total."""
        falling = step >= (1 - self.decay) * self.steps
        return self.retention.final_weight if falling else self.retention.weight

    def learning_rate_scale(self, step: int) -> float:
        """Warm-up, plateau, linear decay to zero."""
        left = (self.steps - step) / max(1.0, self.decay * self.steps)
        return min(1.0, (step + 1) / max(1, self.warmup_steps), left)
