import pytest
import torch

from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.batches import AnswerRow, batch_maker
from imprint_trainer.doc_to_lora.training.frozen_base import FrozenBase
from imprint_trainer.doc_to_lora.training.prompts import Prompts
from imprint_trainer.doc_to_lora.training.sources import open_source
from imprint_trainer.doc_to_lora.training.student import answer_weight, compute_losses
from imprint_trainer.doc_to_lora.training.synthetic import Example

from .small import fresh_hypernetwork, small_config

STAGES = [{"until": 1.0, "kinds": ["code", "word", "command"], "max_facts": 1, "max_fillers": 0}]


def test_with_a_typical_length_every_token_counts_alike(tiny_base: Base) -> None:
    config = small_config(documents=6, retention={"share": 0.0}, stages=STAGES, typical_answer=4)
    unweighted = config.model_copy(update={"typical_answer": None})
    prompts = Prompts(tiny_base.tokenizer)
    hypernetwork = fresh_hypernetwork(tiny_base, prompts, config, [])
    frozen = FrozenBase(tiny_base.model, prompts.prefix)
    batch = batch_maker(tiny_base, prompts, config, open_source("synthetic"), [], max_chunk_length=256)(0)
    documents = batch.parts(config.documents)
    assert len({len(row.answer) for one in documents for row in one.answers}) > 1
    for one in documents:
        losses = compute_losses(hypernetwork, frozen, prompts, one, config)
        (row,) = one.answers
        assert torch.allclose(losses.total, losses.answer * len(row.answer) / 4)
        plain = compute_losses(hypernetwork, frozen, prompts, one, unweighted)
        assert torch.allclose(plain.total, plain.answer)
        assert torch.allclose(plain.answer, losses.answer)


@pytest.mark.parametrize(("length", "weight"), [(2, 0.5), (4, 1.0), (12, 3.0), (4000, 3.0)])
def test_a_listing_counts_no_more_than_three_answers(length: int, weight: float) -> None:
    row = AnswerRow(0, [1], [2] * length, Example("", "", "", ""))
    assert answer_weight(row, small_config(typical_answer=4)) == weight
