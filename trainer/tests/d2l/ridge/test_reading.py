from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from doc_to_lora.ridge.conftest import random_window
from doc_to_lora.tiny import FAMILIES, tiny_model
from imprint_trainer.data.windows import Window
from imprint_trainer.doc_to_lora.ridge.config import RidgeConfig
from imprint_trainer.doc_to_lora.ridge.reading import errors_at, read_windows
from imprint_trainer.errors import Cancelled


@pytest.mark.parametrize("family", FAMILIES)
def test_errors_are_the_gradient_of_the_models_own_log_probability(family: str) -> None:
    model = tiny_model(family)
    ids = torch.tensor([random_window(1).input_ids])
    leaving: list[Any] = []
    hook = model.model.norm.register_forward_pre_hook(lambda _, args: leaving.append(args[0].requires_grad_()))
    logits = model(ids).logits[0]
    hook.remove()
    likely = logits[:-1].log_softmax(-1).gather(1, ids[0, 1:, None]).sum()
    (expected,) = torch.autograd.grad(likely, leaving[0])
    found = errors_at(model, leaving[0][0, :-1].detach(), ids[0, 1:])
    torch.testing.assert_close(found, expected[0, :-1], rtol=1e-4, atol=1e-5)


def test_inputs_and_errors_are_summed_over_lessons_alone(model: Any, config: RidgeConfig) -> None:
    window = random_window(2)
    gram = read_windows(model, config, [window])
    entering: list[Any] = []
    target = model.get_submodule(f"model.layers.{config.layer_indices[0]}.mlp.down_proj")
    hook = target.register_forward_pre_hook(lambda _, args: entering.append(args[0][0]))
    model(torch.tensor([window.input_ids]))
    hook.remove()
    before = [index - 1 for index, lesson in enumerate(window.supervised) if lesson]
    rows = entering[0][before]
    torch.testing.assert_close(gram.inputs[0], rows.mT @ rows, rtol=1e-4, atol=1e-4)
    assert (gram.tokens, gram.read) == (window.supervised_count, len(window.input_ids))


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations(range(4)))
def test_neither_the_order_of_windows_nor_how_they_are_grouped_matters(
    model: Any, config: RidgeConfig, order: list[int]
) -> None:
    windows = [random_window(seed) for seed in range(4)]
    whole = read_windows(model, config, windows)
    parts = [read_windows(model, config, [windows[index]]) for index in order]
    torch.testing.assert_close(sum(part.inputs for part in parts), whole.inputs, rtol=1e-4, atol=1e-3)
    torch.testing.assert_close(sum(part.lessons for part in parts), whole.lessons, rtol=1e-4, atol=1e-3)


def test_a_cancel_is_heard_between_windows(model: Any, config: RidgeConfig) -> None:
    asked = 0

    def stop() -> None:
        nonlocal asked
        asked += 1
        if asked == 2:
            raise Cancelled

    with pytest.raises(Cancelled):
        read_windows(model, config, [random_window(seed) for seed in range(3)], stop=stop)
    assert asked == 2


def test_a_window_without_lessons_adds_nothing(model: Any, config: RidgeConfig) -> None:
    empty = Window((1, 2, 3), (False, False, False))
    gram = read_windows(model, config, [empty, random_window(1)])
    assert gram.tokens == random_window(1).supervised_count
