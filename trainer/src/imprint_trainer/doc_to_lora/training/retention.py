"""Rows that an adapter must not change: the base model's own predictions for questions that no document answers."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from imprint_trainer.doc_to_lora.training.config import RetentionConfig
from imprint_trainer.doc_to_lora.training.frozen_base import FrozenBase
from imprint_trainer.doc_to_lora.training.own_texts import own_questions
from imprint_trainer.doc_to_lora.training.prompts import Prompts
from imprint_trainer.doc_to_lora.training.synthetic import Novelty, make_fact
from imprint_trainer.doc_to_lora.training.unrelated import unrelated_questions

BATCH = 20


@dataclass(frozen=True)
class RetentionRow:
    """ids after the prefix; the teacher's top k for each but the first of them, on the CPU."""

    foreign: bool  # about an entity of no document
    question: list[int]
    answer: list[int]
    targets: Tensor  # [len(ids) - 1, k]
    log_probs: Tensor  # [len(ids) - 1, k]

    @property
    def ids(self) -> list[int]:
        return self.question + self.answer


def retention_questions(config: RetentionConfig, seed: int, own: list[str]) -> list[tuple[str, bool]]:
    """Unrelated questions, and (true) those about entities of no document: for both the base's own answer must stay."""
    rng = random.Random(f"retention {seed}")
    unrelated = unrelated_questions(config.unrelated, held_out=False, seed=seed) + own
    questions = [(text, False) for text in unrelated]
    questions += [(make_fact(rng, Novelty()).question, True) for _ in range(config.foreign)]
    return sorted(questions, key=lambda question: len(question[0]))  # neighbours of one length: little padding


def make_retention_rows(
    base: FrozenBase,
    prompts: Prompts,
    config: RetentionConfig,
    *,
    k: int,
    seed: int,
    on_progress: Callable[[int, int], None],
) -> list[RetentionRow]:
    """`on_progress` gets the rows done, first 0, and the rows in all."""
    on_progress(0, config.rows)
    questions = retention_questions(config, seed, own_questions(base, prompts, config.own, seed))
    rows: list[RetentionRow] = []
    for start in range(0, len(questions), BATCH):
        batch = questions[start : start + BATCH]
        asked = [prompts.question(text) for text, _ in batch]
        answers = [
            answer + ([prompts.end] if len(answer) < config.answer_tokens else [])
            for answer in base.greedy(asked, prompts.end, config.answer_tokens)
        ]
        wholes = [question + answer for question, answer in zip(asked, answers, strict=True)]
        teacher = base.top_k([(whole[:1], whole[1:]) for whole in wholes], k)
        for (_, foreign), question, answer, (targets, values) in zip(batch, asked, answers, teacher, strict=True):
            rows.append(RetentionRow(foreign, question, answer, targets.cpu(), values.cpu()))
        on_progress(len(rows), config.rows)
    return rows
