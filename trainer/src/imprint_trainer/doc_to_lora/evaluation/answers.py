"""Greedy answers of the base, each question with an adapter of its own."""

from collections.abc import Sequence
from contextlib import nullcontext

from imprint_trainer.doc_to_lora.evaluation.imprints import Imprint, Imprinter
from imprint_trainer.doc_to_lora.training.frozen_base import FrozenBase
from imprint_trainer.doc_to_lora.training.prompts import Prompts

TOKENS = 24  # of an answer, at most


def answers(imprinter: Imprinter, questions: Sequence[str], imprints: Sequence[Imprint] = ()) -> list[str]:
    """In the base model's default chat template; question i with adapter i on every token, or of the bare base."""
    prompts = Prompts(imprinter.base.tokenizer)
    rows = [prompts.prefix + prompts.question(question) for question in questions]
    with imprinter.on_rows(imprints) if imprints else nullcontext():
        ids = FrozenBase(imprinter.base.model, []).greedy(rows, prompts.end, TOKENS)
    return [prompts.text(row).strip() for row in ids]
