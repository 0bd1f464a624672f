"""Texts that the base model writes by itself: what an adapter must leave alone is wider than any list of questions.

Shown the header of a user's turn, a chat model writes a user's question ("Magpie", Xu et al. 2024); shown the beginning
of a sentence, prose.
"""

import random
from collections.abc import Sequence

from imprint_trainer.doc_to_lora.training.frozen_base import FrozenBase
from imprint_trainer.doc_to_lora.training.prompts import Prompts

QUESTION_TOKENS = 32
PROSE_TOKENS = 64
BATCH = 64


def own_questions(base: FrozenBase, prompts: Prompts, count: int, seed: int) -> list[str]:
    texts: list[str] = []
    for first in range(0, count, BATCH):
        starts = [base.prefix + prompts.asking] * min(BATCH, count - first)
        written = base.sample(starts, prompts.end, QUESTION_TOKENS, f"questions {seed} {first}")
        texts += [prompts.text(ids).strip() for ids in written]
    return texts


def own_prose(base: FrozenBase, prompts: Prompts, words: Sequence[str], count: int, seed: int) -> list[list[int]]:
    """Ids of texts outside of any chat, each about one of `words`."""
    rng = random.Random(f"prose {seed}")
    texts: list[list[int]] = []
    for first in range(0, count, BATCH):
        starts = [prompts.plain(f"The {rng.choice(words)}") for _ in range(min(BATCH, count - first))]
        written = base.sample(starts, prompts.end, PROSE_TOKENS, f"prose {seed} {first}")
        texts += [start + ids for start, ids in zip(starts, written, strict=True)]
    return texts
