"""Rows that an adapter must not change: the base model's own predictions, for what no document is about."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Literal

from torch import Tensor

from imprint_trainer.doc_to_lora.training.config import RetentionConfig
from imprint_trainer.doc_to_lora.training.frozen_base import FrozenBase
from imprint_trainer.doc_to_lora.training.own_texts import own_prose, own_questions
from imprint_trainer.doc_to_lora.training.prompts import Prompts
from imprint_trainer.doc_to_lora.training.synthetic import Novelty, make_fact
from imprint_trainer.doc_to_lora.training.unrelated import unrelated_questions
from imprint_trainer.memory import release_freed_memory

VERSION = 2  # of how rows are made: those that another one has made are made again
BATCH = 20
OPENING_TOKENS = 4  # of prose, which are not held
Kind = Literal["unrelated", "foreign", "prose"]  # foreign: about an entity of no document
Held = tuple[Kind, list[int], list[tuple[int, int]]]  # ids of a text, and where the answers in it start and end


@dataclass(frozen=True)
class RetentionRow:
    """ids after the prefix; the teacher's top k for each but the first of them, on the CPU.

    A piece of prose is such an answer, and what stands before it is read once, as a question is.
    """

    kind: Kind
    question: list[int]
    answer: list[int]
    targets: Tensor  # [len(ids) - 1, k]
    log_probs: Tensor  # [len(ids) - 1, k]

    @property
    def ids(self) -> list[int]:
        return self.question + self.answer


def retention_questions(
    config: RetentionConfig, seed: int, own: list[str], words: Sequence[str]
) -> list[tuple[str, Kind]]:
    """Questions for which the base's own answer must stay; entities of no document are made of `words` too."""
    rng = random.Random(f"retention {seed}")
    novelty = Novelty(vocabulary=tuple(words))
    unrelated = unrelated_questions(config.unrelated, held_out=False, seed=seed) + own
    questions: list[tuple[str, Kind]] = [(text, "unrelated") for text in unrelated]
    questions += [(make_fact(rng, novelty).question, "foreign") for _ in range(config.foreign)]
    return sorted(questions, key=lambda question: len(question[0]))  # neighbours of one length: little padding


def make_retention_rows(
    base: FrozenBase,
    prompts: Prompts,
    config: RetentionConfig,
    *,
    words: Sequence[str],
    k: int,
    seed: int,
    on_progress: Callable[[int, int], None],
) -> list[RetentionRow]:
    """Prose and other entities are made of `words`. `on_progress` gets the rows done, first 0, and about how many there
    will be."""
    on_progress(0, config.rows)
    held = chain(_answered(base, prompts, config, words, seed), _prose(base, prompts, config, words, seed))
    rows: list[RetentionRow] = []
    while batch := list(islice(held, BATCH)):
        teacher = base.top_k([(ids[:1], ids[1:]) for _, ids, _ in batch], k)
        for (kind, ids, answers), predicted in zip(batch, teacher, strict=True):
            targets, values = (side.cpu() for side in predicted)
            for start, end in answers:
                rows.append(RetentionRow(kind, ids[:start], ids[start:end], targets[: end - 1], values[: end - 1]))
        release_freed_memory()
        on_progress(min(len(rows), config.rows - 1), config.rows)
    on_progress(config.rows, config.rows)
    return rows


def _answered(
    base: FrozenBase, prompts: Prompts, config: RetentionConfig, words: Sequence[str], seed: int
) -> Iterator[Held]:
    questions = retention_questions(config, seed, own_questions(base, prompts, config.own, seed), words)
    for start in range(0, len(questions), BATCH):
        batch = [(kind, prompts.question(text)) for text, kind in questions[start : start + BATCH]]
        answers = base.greedy([question for _, question in batch], prompts.end, config.answer_tokens)
        for (kind, question), answer in zip(batch, answers, strict=True):
            ids = question + answer + [prompts.end] * (len(answer) < config.answer_tokens)
            yield kind, ids, [(len(question), len(ids))]


def _prose(
    base: FrozenBase, prompts: Prompts, config: RetentionConfig, words: Sequence[str], seed: int
) -> Iterator[Held]:
    """All of a text but its opening, in pieces: few positions of many texts would be learned by heart."""
    for ids in own_prose(base, prompts, words, config.prose, seed):
        cuts = range(OPENING_TOKENS, len(ids), config.answer_tokens)
        yield "prose", ids, [(cut, min(cut + config.answer_tokens, len(ids))) for cut in cuts]
