from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from data.sessions import agent, session_of, user
from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.data.windows import Window
from imprint_trainer.doc_to_lora.apply import applied
from imprint_trainer.doc_to_lora.generate import Update
from imprint_trainer.doc_to_lora.refine import read_factors, refine, turns, write_factors
from imprint_trainer.doc_to_lora.ridge.command import config_for
from imprint_trainer.doc_to_lora.ridge.config import RidgeConfig
from imprint_trainer.doc_to_lora.targets import module_path
from imprint_trainer.errors import NothingToTrain
from imprint_trainer.lora.adapter import fresh_adapter
from imprint_trainer.lora.factors import Factors
from imprint_trainer.lora.loss import mean_loss
from imprint_trainer.models.base import LoadedBase

RANK = 4


@pytest.fixture
def config(base: LoadedBase) -> RidgeConfig:
    return config_for(base.model, "tiny").model_copy(update={"lora_alpha": 2.0})


@pytest.fixture
def update(config: RidgeConfig) -> Update:
    generator = torch.Generator().manual_seed(0)
    (d_in,), (d_out,) = config.d_in.values(), config.d_out.values()
    pair = Factors(
        torch.randn(config.num_layers, RANK, d_in, generator=generator) / 10,
        torch.randn(config.num_layers, RANK, d_out, generator=generator) / 10,
    )
    return Update({"down_proj": pair}, 80, 2, RANK, 0.0)


@pytest.fixture
def windows(base: LoadedBase) -> tuple[Window, ...]:
    steps = [user("Where is the quay?"), agent("The quay is behind the bollard, and the bollard is on the quay.")]
    return prepare_windows(session_of(*steps), base.tokenizer, max_length=256, include_unsuccessful=True).windows


def loss(base: LoadedBase, windows: tuple[Window, ...], update: Update, config: RidgeConfig) -> float:
    with applied(base.model, update.factors, config):
        return mean_loss(base.model, windows, base.device)


def test_steps_lower_the_loss_of_the_lessons_and_leave_the_base_as_it_was(
    base: LoadedBase, config: RidgeConfig, update: Update, windows: tuple[Window, ...]
) -> None:
    bare = mean_loss(base.model, windows, base.device)
    few, more = (refine(update, config, base, windows, steps, seed=0) for steps in (1, 8))
    losses = [loss(base, windows, one, config) for one in (update, few, more)]
    assert losses == sorted(losses, reverse=True)
    assert mean_loss(base.model, windows, base.device) == bare
    assert replace(more, factors={}) == replace(update, factors={})


def test_the_same_seed_gives_the_same_update(
    base: LoadedBase, config: RidgeConfig, update: Update, windows: tuple[Window, ...]
) -> None:
    first, second = (refine(update, config, base, windows, 3, seed=5).factors["down_proj"] for _ in range(2))
    assert torch.equal(first.A, second.A)
    assert torch.equal(first.B, second.B)


def test_what_is_written_into_an_adapter_is_read_again_and_acts_as_the_update_does(
    base: LoadedBase, config: RidgeConfig, update: Update, windows: tuple[Window, ...]
) -> None:
    places = [module_path(layer, "down_proj") for layer in config.layer_indices]
    expected = loss(base, windows, update, config)
    with fresh_adapter(base, rank=RANK, alpha=RANK, targets=places, seed=0) as model:
        write_factors(model, update.factors, config)
        found: Any = read_factors(model, update.factors, config)["down_proj"]
        assert mean_loss(model, windows, base.device) == pytest.approx(expected, rel=1e-5)
    assert torch.equal(found.A, update.factors["down_proj"].A)
    assert torch.allclose(found.B, update.factors["down_proj"].B)


def test_nothing_to_train_on_is_refused(base: LoadedBase, config: RidgeConfig, update: Update) -> None:
    with pytest.raises(NothingToTrain, match="refine_steps"):
        refine(update, config, base, [Window((1, 2), (False, False))], 2, seed=0)


@given(count=st.integers(1, 12), steps=st.integers(1, 40), seed=st.integers(0, 5))
def test_every_window_has_its_turn_before_any_has_another(count: int, steps: int, seed: int) -> None:
    windows = [Window((index, 7), (False, True)) for index in range(count)]
    taken = [window.input_ids[0] for window in turns(windows, steps, seed=seed)]
    assert len(taken) == steps
    for start in range(0, steps, count):
        lap = taken[start : start + count]
        assert len(set(lap)) == len(lap)
