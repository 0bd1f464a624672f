from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from doc_to_lora.ridge.conftest import random_pieces, random_window
from imprint_trainer.data.windows import Window
from imprint_trainer.doc_to_lora.apply import applied
from imprint_trainer.doc_to_lora.ridge.load import Ridge
from imprint_trainer.doc_to_lora.ridge.reading import read_windows
from imprint_trainer.doc_to_lora.ridge.solve import solve
from imprint_trainer.lora.loss import mean_loss

CPU = torch.device("cpu")
WINDOWS = [random_window(seed) for seed in range(3)]


def updates(made: Ridge, model: Any, windows: list[Window], **changes: Any) -> Tensor:
    """The whole update of each layer [L, d, d_in]."""
    config = made.config.model_copy(update=changes)
    solved = solve(read_windows(model, config, windows), made.statistics, config)
    pair = solved.factors["down_proj"]
    return pair.B.mT @ pair.A


def test_it_is_the_least_squares_solution(ridge: Ridge, model: Any) -> None:
    """numpy's, of the rows of lessons above those that ordinary inputs stand for."""
    config, place = ridge.config, 0
    gram = read_windows(model, config, WINDOWS)
    found = updates(ridge, model, WINDOWS)[place].double()
    errors = ridge.statistics.errors.double()
    errors = errors + config.damping * errors.diagonal().mean() * torch.eye(len(errors))
    held = gram.inputs[place].double() + config.ridge * ridge.statistics.inputs(place).double()
    wanted = config.step / config.num_layers * torch.linalg.inv(errors) @ gram.lessons[place].double().mT
    expected = wanted @ torch.linalg.inv(held)
    assert float((found - expected).norm() / expected.norm()) < 1e-3


def test_lessons_become_likelier(ridge: Ridge, model: Any) -> None:
    solved = solve(read_windows(model, ridge.config, WINDOWS), ridge.statistics, ridge.config)
    before = mean_loss(model, WINDOWS, CPU)
    with applied(model, solved.factors, ridge.config):
        assert mean_loss(model, WINDOWS, CPU) < before - 0.05


def test_a_larger_ridge_moves_ordinary_text_less(ridge: Ridge, model: Any) -> None:
    ordinary = [Window(tuple(ids), (False, *(True,) * (len(ids) - 1))) for ids in random_pieces(8)]

    def moved(strength: float) -> float:
        delta = updates(ridge, model, WINDOWS, ridge=strength)[0]
        gram = read_windows(model, ridge.config, ordinary)
        return float((delta @ gram.inputs[0] @ delta.mT).trace())

    assert moved(1000.0) < moved(100.0) < moved(10.0)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rank=st.integers(1, 15), seed=st.integers(0, 1000))
def test_no_other_cut_to_a_rank_is_nearer_where_inputs_and_errors_are(
    ridge: Ridge, model: Any, rank: int, seed: int
) -> None:
    gram = read_windows(model, ridge.config, WINDOWS)
    whole, cut = updates(ridge, model, WINDOWS)[0], updates(ridge, model, WINDOWS, rank=rank)[0]
    held = gram.inputs[0] + ridge.config.ridge * ridge.statistics.inputs(0)
    errors = ridge.statistics.errors
    errors = errors + ridge.config.damping * errors.diagonal().mean() * torch.eye(len(errors))

    def distance(other: Tensor) -> float:
        left = whole - other
        return float((errors @ left @ held @ left.mT).trace())

    axes = torch.linalg.qr(torch.randn(len(errors), rank, generator=torch.Generator().manual_seed(seed))).Q
    assert distance(cut) <= distance(axes @ (axes.mT @ whole)) * 1.001


@pytest.mark.parametrize("rank", [1, 4])
def test_the_error_of_a_cut_is_told(ridge: Ridge, model: Any, rank: int) -> None:
    gram = read_windows(model, ridge.config, WINDOWS)
    solved = solve(gram, ridge.statistics, ridge.config, rank=rank)
    assert solved.factors["down_proj"].A.shape == (ridge.config.num_layers, rank, 28)
    assert 0 < solved.error < 1
    assert solve(gram, ridge.statistics, ridge.config, rank=16).error < 0.01


def test_the_same_windows_twice_are_no_second_lesson(ridge: Ridge, model: Any) -> None:
    once, twice = updates(ridge, model, WINDOWS), updates(ridge, model, WINDOWS * 2)
    assert float(twice.norm()) < 2 * float(once.norm())
