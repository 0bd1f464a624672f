"""Where a training's documents come from."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from imprint_trainer.doc_to_lora.training.config import Stage
from imprint_trainer.doc_to_lora.training.pairs import read_pairs
from imprint_trainer.doc_to_lora.training.session_questions import read_sessions
from imprint_trainer.doc_to_lora.training.synthetic import Example, Novelty, make_examples

QUESTIONS = 2  # at most, of one document in a step


@dataclass(frozen=True)
class Source:
    """`draw` gives one document's examples, made of the base model's vocabulary where they are made; `identity` changes
    when the data does."""

    identity: str
    draw: Callable[[random.Random, Stage, tuple[str, ...]], list[Example]]


def open_source(data: str, *, questions: int | None = None) -> Source:
    """`synthetic`, a JSONL file of {document, question, answer}, or a folder of canonical sessions.

    `questions` limits how many different ones of each kind synthetic documents answer. Raises TrainingRefused.
    """
    if data == "synthetic":
        return Source("synthetic 6", partial(_draw_synthetic, questions=questions))
    path = Path(data)
    documents, digest = read_sessions(path) if path.is_dir() else read_pairs(path)
    return Source(f"{'sessions' if path.is_dir() else 'jsonl'} sha256:{digest}", _drawing(documents))


def _draw_synthetic(
    rng: random.Random, stage: Stage, vocabulary: tuple[str, ...], *, questions: int | None
) -> list[Example]:
    facts = rng.randint(1, stage.max_facts)
    return make_examples(
        rng,
        facts=facts,
        fillers=rng.randint(0, stage.max_fillers),
        asked=min(QUESTIONS, facts),
        novelty=Novelty(vocabulary=vocabulary),
        kind=rng.choice(stage.kinds) if stage.kinds else None,
        questions=questions,
        alike=stage.alike,
    )


def _drawing(documents: list[list[Example]]) -> Callable[[random.Random, Stage, tuple[str, ...]], list[Example]]:
    def draw(rng: random.Random, _: Stage, __: tuple[str, ...]) -> list[Example]:
        examples = rng.choice(documents)
        return rng.sample(examples, min(QUESTIONS, len(examples)))

    return draw
