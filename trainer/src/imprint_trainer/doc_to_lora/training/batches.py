"""A step's rows, made from the seed and the step's number alone: a resumed training sees the same ones."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
    before: list[int]  # question and header of the answer
    answer: list[int]  # answer and end token
    example: Example


@dataclass(frozen=True)
class Batch:
    """`chunks` of all documents in order; `chunk_counts` says how many each one has."""

    chunks: list[list[int]]
    chunk_counts: list[int]
    answers: list[AnswerRow]
    retention: list[tuple[int, RetentionRow]]  # (context, row)


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
    document is too long for them."""
    affixes = chunk_affixes(base.tokenizer, base.name)

    def make(step: int) -> Batch:
        rng = random.Random(f"{config.seed} {step}")
        stage = config.stage(step)
        batch = Batch([], [], [], [])
        for context in range(config.documents):
            examples = source.draw(rng, stage)
            ids = document_ids(base.tokenizer, base.name, examples[0].document)
            count = max(rng.randint(1, stage.max_chunks), -(-len(ids) // max_chunk_length))
            chunks = split_into(ids, count, affixes)
            batch.chunks.extend(chunks)
            batch.chunk_counts.append(len(chunks))
            for example in examples:
                before, answer = prompts.question(example.question), prompts.answer(example.answer)
                batch.answers.append(AnswerRow(context, before, answer, example))
            if retention and rng.random() < config.retention.share:
                batch.retention.append((context, rng.choice(retention)))
        return batch

    return make
