"""Answers of the base model with each document's own adapter on every token."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch

from imprint_trainer.doc_to_lora.apply import applied
from imprint_trainer.doc_to_lora.chunks import split_chunks
from imprint_trainer.doc_to_lora.generate import chunk_factors
from imprint_trainer.doc_to_lora.merge import merge_batch
from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.doc_to_lora.prompt import chunk_affixes, document_ids
from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.frozen_base import FrozenBase
from imprint_trainer.doc_to_lora.training.prompts import Prompts
from imprint_trainer.doc_to_lora.training.student import for_rows


@contextmanager
def adapted(base: Base, hypernetwork: Hypernetwork, documents: Sequence[str]) -> Iterator[None]:
    """While open, row i of every batch that the base model runs has the adapter of document i."""
    config = hypernetwork.config
    affixes = chunk_affixes(base.tokenizer, base.name)
    chunks = [
        split_chunks(document_ids(base.tokenizer, base.name, document), config.max_chunk_length, affixes)
        for document in documents
    ]
    with torch.inference_mode():
        factors = chunk_factors(hypernetwork, base.model, [chunk for own in chunks for chunk in own])
        merged = merge_batch(hypernetwork, factors, [len(own) for own in chunks])
    with applied(base.model, for_rows(merged, list(range(len(documents)))), config):
        yield


def answer(
    base: Base,
    prompts: Prompts,
    questions: Sequence[str],
    *,
    limit: int,
    batch: int,
    hypernetwork: Hypernetwork | None = None,
    documents: Sequence[str] = (),
) -> list[str]:
    """Greedy answers of at most `limit` tokens, in the base model's default chat template; question i with document
    i's adapter, or of the bare base without a hypernetwork."""
    frozen = FrozenBase(base.model, [])
    answers: list[str] = []
    for start in range(0, len(questions), batch):
        rows = [prompts.prefix + prompts.question(question) for question in questions[start : start + batch]]
        if hypernetwork is None:
            ids = frozen.greedy(rows, prompts.end, limit)
        else:
            with adapted(base, hypernetwork, documents[start : start + batch]):
                ids = frozen.greedy(rows, prompts.end, limit)
        answers += [prompts.text(row).strip() for row in ids]
    return answers
