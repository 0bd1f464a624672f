from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from imprint.conftest import random_pieces, random_window
from imprint_trainer.data.windows import Window
from imprint_trainer.errors import NothingToTrain
from imprint_trainer.imprint.read import halves, read_windows
from imprint_trainer.imprint.solve import LEAST_OF_TRIAL, ClosedForm, solve
from imprint_trainer.imprint.update import Imprinted, Limits, applied
from imprint_trainer.lora.loss import mean_loss, read_whole

CPU = torch.device("cpu")
WHOLE = (slice(None),)
WINDOWS = [random_window(seed) for seed in range(3)]


def updates(made: ClosedForm, model: Any, windows: list[Window], **changes: Any) -> Tensor:
    """The whole update of each layer [L, d, d_in]."""
    config = made.config.model_copy(update=changes)
    (solved,) = solve(read_windows(model, config, windows), made.statistics, config, WHOLE, config.rank)
    pair = solved.factors["down_proj"]
    return pair.B.mT @ pair.A


@pytest.mark.parametrize("count", [1, 3, 4, 20])  # windows of 9 tokens, where 28 inputs enter a layer
def test_it_is_the_least_squares_solution(closed_form: ClosedForm, model: Any, count: int) -> None:
    """Of the rows of supervised tokens above those that ordinary inputs stand for."""
    config, place = closed_form.config, 0
    windows = [random_window(seed) for seed in range(count)]
    seen = read_windows(model, config, windows)
    inputs = seen.inputs[place].double()
    found = updates(closed_form, model, windows)[place].double()
    errors = closed_form.statistics.errors.double()
    errors = errors + config.damping * errors.diagonal().mean() * torch.eye(len(errors))
    held = inputs.mT @ inputs + config.ridge * closed_form.statistics.inputs(place).double()
    wanted = config.step / config.num_layers * torch.linalg.inv(errors) @ seen.errors.double().mT @ inputs
    expected = wanted @ torch.linalg.inv(held)
    assert float((found - expected).norm() / expected.norm()) < 1e-3


def test_supervised_tokens_become_likelier(closed_form: ClosedForm, model: Any) -> None:
    config = closed_form.config
    (solved,) = solve(read_windows(model, config, WINDOWS), closed_form.statistics, config, WHOLE, config.rank)
    before = mean_loss(model, WINDOWS, CPU)
    with applied(model, solved.factors, closed_form.config):
        assert mean_loss(model, WINDOWS, CPU) < before - 0.05


def test_a_larger_ridge_moves_ordinary_text_less(closed_form: ClosedForm, model: Any) -> None:
    ordinary = [Window(tuple(ids), (False, *(True,) * (len(ids) - 1))) for ids in random_pieces(8)]

    def moved(strength: float) -> float:
        delta = updates(closed_form, model, WINDOWS, ridge=strength)[0]
        seen = read_windows(model, closed_form.config, ordinary)
        return float((seen.inputs[0] @ delta.mT).square().sum())

    assert moved(1000.0) < moved(100.0) < moved(10.0)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rank=st.integers(1, 15), seed=st.integers(0, 1000))
def test_no_other_cut_to_a_rank_is_nearer_where_inputs_and_errors_are(
    closed_form: ClosedForm, model: Any, rank: int, seed: int
) -> None:
    inputs = read_windows(model, closed_form.config, WINDOWS).inputs[0]
    whole, cut = updates(closed_form, model, WINDOWS)[0], updates(closed_form, model, WINDOWS, rank=rank)[0]
    held = inputs.mT @ inputs + closed_form.config.ridge * closed_form.statistics.inputs(0)
    errors = closed_form.statistics.errors
    errors = errors + closed_form.config.damping * errors.diagonal().mean() * torch.eye(len(errors))

    def distance(other: Tensor) -> float:
        left = whole - other
        return float((errors @ left @ held @ left.mT).trace())

    axes = torch.linalg.qr(torch.randn(len(errors), rank, generator=torch.Generator().manual_seed(seed))).Q
    assert distance(cut) <= distance(axes @ (axes.mT @ whole)) * 1.001


@pytest.mark.parametrize("rank", [1, 4])
def test_the_error_of_a_cut_is_told(closed_form: ClosedForm, model: Any, rank: int) -> None:
    seen = read_windows(model, closed_form.config, WINDOWS)
    (solved,) = solve(seen, closed_form.statistics, closed_form.config, WHOLE, rank)
    assert solved.factors["down_proj"].A.shape == (closed_form.config.num_layers, rank, 28)
    assert 0 < solved.compression_error < 1
    (uncut,) = solve(seen, closed_form.statistics, closed_form.config, WHOLE, 16)
    assert uncut.compression_error < 0.01


def test_the_same_windows_twice_are_not_learned_twice(closed_form: ClosedForm, model: Any) -> None:
    once, twice = updates(closed_form, model, WINDOWS), updates(closed_form, model, WINDOWS * 2)
    assert float(twice.norm()) < 2 * float(once.norm())


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations(range(len(WINDOWS))))
def test_the_order_of_windows_does_not_matter(closed_form: ClosedForm, model: Any, order: list[int]) -> None:
    found = updates(closed_form, model, [WINDOWS[index] for index in order])
    torch.testing.assert_close(found, updates(closed_form, model, WINDOWS), rtol=1e-3, atol=1e-6)


def imprinted(closed_form: ClosedForm, model: Any, windows: list[Window], rank: int | None = None) -> Imprinted:
    base: Any = SimpleNamespace(model=model, tokenizer=SimpleNamespace(decode=lambda _: ""))
    session: Any = SimpleNamespace(steps=[])
    limits = Limits(len(windows), None, rank)
    return closed_form.imprint(base, session, lambda: windows, limits, read=read_whole, stop=lambda: None)


def test_an_update_says_what_it_was_made_of(closed_form: ClosedForm, model: Any) -> None:
    update = imprinted(closed_form, model, [random_window(seed) for seed in range(2)], rank=3).update
    assert (update.tokens, update.chunks) == (80, 2)
    assert update.uncompressed_rank == 16
    assert update.factors["down_proj"].A.shape[1] == 3


def test_nothing_to_learn_from_is_refused(closed_form: ClosedForm, model: Any) -> None:
    with pytest.raises(NothingToTrain):
        imprinted(closed_form, model, [Window((1, 2), (False, False))])


@given(masks=st.lists(st.lists(st.booleans(), min_size=2, max_size=8).filter(lambda mask: any(mask[1:])), max_size=4))
def test_halves_are_the_same_text_with_each_target_once_the_earlier_ones_first(masks: list[list[bool]]) -> None:
    windows = [Window(tuple(range(at, at + len(mask))), tuple(mask)) for at, mask in enumerate(masks)]
    earlier, later = halves(windows)
    places = {one.input_ids: at for at, one in enumerate(windows)}
    first, second = (
        [(places[one.input_ids], index) for one in half for index in one.targets] for half in (earlier, later)
    )
    assert first + second == [(at, index) for at, one in enumerate(windows) for index in one.targets]
    assert 0 <= len(second) - len(first) <= 1
    assert all(one.supervised_count for one in (*earlier, *later))


def test_trials_are_the_update_of_each_half_before_the_other_one(closed_form: ClosedForm, model: Any) -> None:
    windows = [random_window(seed, 40) for seed in range(20)]
    made = imprinted(closed_form, model, windows).trials
    earlier, later = halves(windows)
    assert [one.windows for one in made] == [tuple(later), tuple(earlier)]
    for half, one in zip((earlier, later), made, strict=True):
        pair = one.factors["down_proj"]
        torch.testing.assert_close(pair.B.mT @ pair.A, updates(closed_form, model, half), rtol=1e-3, atol=1e-6)


def test_trials_read_nothing_again(closed_form: ClosedForm, model: Any) -> None:
    runs = []
    hook = model.model.layers[0].register_forward_hook(lambda *_: runs.append(1))
    made = imprinted(closed_form, model, [random_window(seed, 40) for seed in range(20)])
    hook.remove()
    assert len(made.trials) == 2
    assert len(runs) == 20


def test_too_little_text_makes_no_trial(closed_form: ClosedForm, model: Any) -> None:
    few = [random_window(0)]
    assert few[0].supervised_count < 2 * LEAST_OF_TRIAL
    assert imprinted(closed_form, model, few).trials == ()
