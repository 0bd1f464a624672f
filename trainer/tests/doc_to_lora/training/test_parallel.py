from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.batches import Batch, batch_maker
from imprint_trainer.doc_to_lora.training.build import make_config, parameter_groups
from imprint_trainer.doc_to_lora.training.frozen_base import FrozenBase
from imprint_trainer.doc_to_lora.training.parallel import workers
from imprint_trainer.doc_to_lora.training.prompts import Prompts
from imprint_trainer.doc_to_lora.training.retention import make_retention_rows
from imprint_trainer.doc_to_lora.training.sources import open_source
from imprint_trainer.doc_to_lora.training.student import Losses

from .small import fresh_hypernetwork, small_config


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def step_of(base: Base, count: int, *, whole_prompt: float) -> tuple[Losses, dict[str, Tensor], Batch]:
    """One step on `count` threads."""
    torch.set_num_threads(count)
    config = small_config(documents=5, whole_prompt=whole_prompt, retention={"share": 1.0, "unrelated": 4})
    prompts = Prompts(base.tokenizer)
    frozen = FrozenBase(base.model, prompts.prefix, min(make_config(base.model, base.name, config.shape).layer_indices))
    rows = make_retention_rows(
        frozen, prompts, config.retention, words=["harbor"], k=config.top_k, seed=0, on_progress=lambda _, __: None
    )
    hypernetwork = fresh_hypernetwork(base, prompts, config, rows)
    source = open_source("synthetic", questions=20)
    batch = batch_maker(base, prompts, config, source, rows, max_chunk_length=256)(3)
    parameters = [parameter for group in parameter_groups(hypernetwork) for parameter in group]
    with workers(frozen) as team:
        assert len(team.bases) == count
        losses = team.backward(hypernetwork, parameters, prompts, batch, config)
    assert torch.get_num_threads() == count
    return losses, {name: p.grad for name, p in hypernetwork.named_parameters() if p.grad is not None}, batch


@pytest.mark.parametrize("whole_prompt", [0.0, 1.0])
def test_parts_add_up_to_the_whole_step(tiny_base: Base, whole_prompt: float) -> None:
    alone, expected, batch = step_of(tiny_base, 1, whole_prompt=whole_prompt)
    assert batch.whole_prompt == (whole_prompt == 1.0)
    together, found, _ = step_of(tiny_base, 3, whole_prompt=whole_prompt)
    assert torch.allclose(together.answer, alone.answer, rtol=1e-4)
    assert torch.allclose(together.retention, alone.retention, rtol=1e-4, atol=1e-6)
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        assert torch.allclose(found[name], gradient, rtol=1e-3, atol=1e-5), name


def test_the_same_threads_give_the_same_bits(tiny_base: Base) -> None:
    _, first, _ = step_of(tiny_base, 2, whole_prompt=0.0)
    _, second, _ = step_of(tiny_base, 2, whole_prompt=0.0)
    assert all(torch.equal(first[name], second[name]) for name in first)
