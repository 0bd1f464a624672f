import pytest
import torch
from torch import nn

from imprint_trainer.doc_to_lora.encoder import encode
from imprint_trainer.doc_to_lora.merge import merge_chunks
from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.build import fold
from imprint_trainer.doc_to_lora.training.prompts import Prompts
from imprint_trainer.doc_to_lora.training.widen import with_ranks

from ..tiny import ids_and_mask
from .small import fresh_hypernetwork, small_config


@pytest.fixture(scope="module")
def narrow(tiny_base: Base) -> Hypernetwork:
    trained = fresh_hypernetwork(tiny_base, Prompts(tiny_base.tokenizer), small_config(), [])
    nn.init.normal_(trained.bias_B.weight)  # which a training starts with zeros
    return fold(trained)


def update(hypernetwork: Hypernetwork, base: Base) -> torch.Tensor:
    """B^T A of every layer, bias included, of a document of one chunk."""
    ids, mask = ids_and_mask([14])
    merged = merge_chunks(hypernetwork, hypernetwork(encode(base.model, ids, mask, hypernetwork.config), mask))
    pair = merged["down_proj"]
    return pair.B.mT @ pair.A


@pytest.mark.parametrize("more", [1, 2, 5])  # a few twins, one for each rank, several for some
def test_twins_say_together_what_one_rank_said(narrow: Hypernetwork, tiny_base: Base, more: int) -> None:
    wide = with_ranks(narrow, narrow.config.rank + more, apart=0.0)
    assert wide.config.rank == narrow.config.rank + more
    torch.testing.assert_close(update(wide, tiny_base), update(narrow, tiny_base))


def test_twins_start_apart_and_their_elders_stay(narrow: Hypernetwork) -> None:
    rank, wide = narrow.config.rank, with_ranks(narrow, 2 * narrow.config.rank)
    old = narrow.aggregator.perceiver.encoder.latents_q.view(narrow.config.num_layers, rank, -1)
    new = wide.aggregator.perceiver.encoder.latents_q.view(narrow.config.num_layers, 2 * rank, -1)
    assert torch.equal(new[:, :rank], old)
    torch.testing.assert_close((new[:, rank:] - old).norm(dim=-1), old.norm(dim=-1))


def test_more_ranks_are_a_function_of_what_was_trained(narrow: Hypernetwork) -> None:
    first, second = with_ranks(narrow, 7).state_dict(), with_ranks(narrow, 7).state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)
