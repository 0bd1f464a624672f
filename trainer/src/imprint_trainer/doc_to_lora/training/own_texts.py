"""Texts that the base model writes by itself: what an adapter must leave alone is wider than any list of questions.

Shown the header of a user's turn, a chat model writes a user's question ("Magpie", Xu et al. 2024); shown the beginning
of a sentence or of a line of code, prose or code.
"""

import random
from collections.abc import Iterator, Sequence

from imprint_trainer.doc_to_lora.training.config import PROSE_TOKENS
from imprint_trainer.doc_to_lora.training.frozen_base import FrozenBase
from imprint_trainer.doc_to_lora.training.prompts import Prompts

QUESTION_TOKENS = 32
BATCH = 64
OPENINGS = ("The {}", "A {}", "In {}", "To {}", "When the {}", "{} is", "def {}", "import {}", "SELECT {}", "# {}")


def own_questions(base: FrozenBase, prompts: Prompts, count: int, seed: int) -> list[str]:
    starts = [base.prefix + prompts.asking] * count
    return [prompts.text(ids).strip() for ids in _written(base, prompts, starts, QUESTION_TOKENS, f"questions {seed}")]


def own_prose(base: FrozenBase, prompts: Prompts, words: Sequence[str], count: int, seed: int) -> Iterator[list[int]]:
    """Ids of texts outside of any chat, each about one of `words`, as they are written."""
    rng = random.Random(f"prose {seed}")
    starts = [prompts.plain(rng.choice(OPENINGS).format(rng.choice(words))) for _ in range(count)]
    written = _written(base, prompts, starts, PROSE_TOKENS, f"prose {seed}")
    return (start + ids for start, ids in zip(starts, written, strict=True))


def _written(base: FrozenBase, prompts: Prompts, starts: list[list[int]], limit: int, seed: str) -> Iterator[list[int]]:
    """What follows each start, a batch at a time."""
    for at in range(0, len(starts), BATCH):
        yield from base.sample(starts[at : at + BATCH], prompts.end, limit, f"{seed} {at}")
