"""Documents and questions of each row, with values that no training has seen."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from imprint_trainer.doc_to_lora.training.synthetic import (
    Example,
    Novelty,
    make_examples,
    make_facts,
    make_statement,
)

SEEN = Novelty(values=True)
UNSEEN = Novelty(values=True, entities=True, wordings=True)
LONG = 18  # sentences beside the fact: about 200 tokens


@dataclass(frozen=True)
class Row:
    """`goal` is the least share of exact answers that the project aims for."""

    name: str
    goal: float
    examples: list[Example]


def make_rows(count: int, *, seed: int, sessions: Sequence[str] = ()) -> list[Row]:
    """`count` documents a row, one question each; the row of sessions only where there are session texts."""
    rows = [
        Row("one fact, seen wordings", 0.95, _examples(count, seed, 1, (0, 1), SEEN)),
        Row("two facts, one asked", 0.85, _examples(count, seed + 1, 2, (0, 2), SEEN)),
        Row("four facts, one asked", 0.60, _examples(count, seed + 2, 4, (0, 2), SEEN)),
        Row("one fact in a 200-token document", 0.60, _examples(count, seed + 3, 1, (LONG, LONG), SEEN)),
        Row("unseen entities and wordings", 0.70, _examples(count, seed + 4, 1, (0, 1), UNSEEN)),
    ]
    if sessions:
        rows.append(Row("one fact in a real session", 0.40, _in_sessions(count, seed + 5, sessions)))
    return rows


def _examples(count: int, seed: int, facts: int, fillers: tuple[int, int], novelty: Novelty) -> list[Example]:
    rng = random.Random(f"evaluation {seed}")
    return [
        make_examples(rng, facts=facts, fillers=rng.randint(*fillers), asked=1, novelty=novelty)[0]
        for _ in range(count)
    ]


def _in_sessions(count: int, seed: int, sessions: Sequence[str]) -> list[Example]:
    """A fact stated once, between two lines of a session's document that does not hold its value."""
    rng = random.Random(f"evaluation {seed}")
    examples = []
    for _ in range(count):
        text = rng.choice(sessions)
        (fact,) = make_facts(rng, 1, SEEN)
        while fact.value in text:
            (fact,) = make_facts(rng, 1, SEEN)
        lines = text.split("\n")
        lines.insert(rng.randint(0, len(lines)), make_statement(rng, fact))
        examples.append(Example("\n".join(lines), fact.question, fact.value, fact.kind))
    return examples
