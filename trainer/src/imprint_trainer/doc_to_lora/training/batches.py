"""A step's rows, made from the seed and the step's number alone: a resumed training sees the same ones."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from imprint_trainer.doc_to_lora.chunks import split_into
from imprint_trainer.doc_to_lora.prompt import chunk_affixes, document_ids
from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.config import HypernetworkTrainingConfig
from imprint_trainer.doc_to_lora.training.prompts import Prompts
from imprint_trainer.doc_to_lora.training.retention import RetentionRow
from imprint_trainer.doc_to_lora.training.sources import Source
from imprint_trainer.doc_to_lora.training.synthetic import Example


@dataclass(frozen=True)
class AnswerRow:
    """A question that the document of context `context` answers."""

    context: int
    question: list[int]  # and the header of the answer
    answer: list[int]  # answer and end token
    example: Example


@dataclass(frozen=True)
class HeldRow:
    """A question that the adapter of context `context` must leave alone, held at some of the positions that the adapter
    acts on: the same loss on average, for fewer products with the head."""

    context: int
    row: RetentionRow
    positions: list[int]


@dataclass(frozen=True)
class Batch:
    """`chunks` of all documents in order; `chunk_counts` says how many each one has."""

    chunks: list[list[int]]
    chunk_counts: list[int]
    answers: list[AnswerRow]
    retention: list[HeldRow]
    held_in_step: int  # retention rows of the whole step, of which this may be a part
    retention_weight: float
    whole_prompt: bool  # adapters act on every token, as in use, or from the last one of the question on

    def parts(self, count: int) -> "list[Batch]":
        """At most `count` batches of whole documents; none is empty."""
        chunks = iter(self.chunks)
        own = [[next(chunks) for _ in range(amount)] for amount in self.chunk_counts]
        contexts = range(len(own))
        return [self._part(own, contexts[first::count]) for first in range(min(count, len(own)))]

    def _part(self, chunks: list[list[list[int]]], contexts: range) -> "Batch":
        return replace(
            self,
            chunks=[chunk for context in contexts for chunk in chunks[context]],
            chunk_counts=[self.chunk_counts[context] for context in contexts],
            answers=[replace(x, context=contexts.index(x.context)) for x in self.answers if x.context in contexts],
            retention=[replace(x, context=contexts.index(x.context)) for x in self.retention if x.context in contexts],
        )


def batch_maker(
    base: Base,
    prompts: Prompts,
    config: HypernetworkTrainingConfig,
    source: Source,
    retention: Sequence[RetentionRow],
    *,
    max_chunk_length: int,
) -> Callable[[int], Batch]:
    """A function of the step: fresh documents from `source`, in up to the stage's number of chunks, more where a
    document is too long for them.

    Questions about other entities are held from the stage on in which documents have several facts: an adapter that
    cannot tell entities apart yet would learn to say nothing.
    """
    kinds = sorted({row.kind for row in retention})
    rows = {kind: [row for row in retention if row.kind == kind] for kind in kinds}
    affixes = chunk_affixes(base.tokenizer, base.name)

    def make(step: int) -> Batch:
        rng = random.Random(f"{config.seed} {step}")
        stage = config.stage(step)
        odds = {kind: 1.0 if kind != "foreign" else config.retention.foreign_odds for kind in kinds}
        if stage.max_facts == 1:
            odds.pop("foreign", None)
        chunks: list[list[int]] = []
        chunk_counts: list[int] = []
        answers: list[AnswerRow] = []
        held_rows: list[HeldRow] = []
        whole_prompt = rng.random() < config.whole_prompt
        for context in range(config.documents):
            examples = source.draw(rng, stage, base.vocabulary)
            ids = document_ids(base.tokenizer, base.name, examples[0].document)
            count = max(rng.randint(1, stage.max_chunks), -(-len(ids) // max_chunk_length))
            own = split_into(ids, count, affixes)
            chunks += own
            chunk_counts.append(len(own))
            for example in examples:
                question, answer = prompts.question(example.question), prompts.answer(example.answer)
                answers.append(AnswerRow(context, question, answer, example))
            if odds and rng.random() < config.retention.share:
                (kind,) = rng.choices(list(odds), list(odds.values()))
                row = rng.choice(rows[kind])
                reached = range(0 if whole_prompt else len(row.question) - 1, len(row.targets))
                count = min(config.retention.positions, len(reached))
                held_rows.append(HeldRow(context, row, sorted(rng.sample(reached, count))))
        weight = config.retention_weight(step)
        return Batch(chunks, chunk_counts, answers, held_rows, len(held_rows), weight, whole_prompt)

    return make
