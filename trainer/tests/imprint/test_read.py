from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from imprint.conftest import random_window
from imprint.tiny import FAMILIES, tiny_model
from imprint_trainer.data.windows import Window
from imprint_trainer.errors import Cancelled
from imprint_trainer.imprint.config import ClosedFormConfig
from imprint_trainer.imprint.read import errors_at, read_windows, worth_reading


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


def test_inputs_and_errors_are_those_of_supervised_tokens_alone(model: Any, config: ClosedFormConfig) -> None:
    window = random_window(2)
    seen = read_windows(model, config, [window])
    entering: list[Any] = []
    target = model.get_submodule(f"model.layers.{config.layer_indices[0]}.mlp.down_proj")
    hook = target.register_forward_pre_hook(lambda _, args: entering.append(args[0][0]))
    model(torch.tensor([window.input_ids]))
    hook.remove()
    before = [index - 1 for index, own in enumerate(window.supervised) if own]
    torch.testing.assert_close(seen.inputs[0], entering[0][before], rtol=1e-4, atol=1e-4)
    assert (len(seen.errors), seen.tokens) == (window.supervised_count, len(window.input_ids))


def test_windows_are_seen_one_after_the_other(model: Any, config: ClosedFormConfig) -> None:
    windows = [random_window(seed) for seed in range(4)]
    whole = read_windows(model, config, windows)
    alone = [read_windows(model, config, [window]) for window in windows]
    assert torch.equal(torch.cat([one.inputs for one in alone], dim=1), whole.inputs)
    assert torch.equal(torch.cat([one.errors for one in alone]), whole.errors)


def test_a_cancel_ends_it_between_windows(model: Any, config: ClosedFormConfig) -> None:
    asked = 0

    def stop() -> None:
        nonlocal asked
        asked += 1
        if asked == 2:
            raise Cancelled

    with pytest.raises(Cancelled):
        read_windows(model, config, [random_window(seed) for seed in range(3)], stop=stop)
    assert asked == 2


def test_a_window_without_supervised_tokens_adds_nothing(model: Any, config: ClosedFormConfig) -> None:
    empty = Window((1, 2, 3), (False, False, False))
    seen = read_windows(model, config, [empty, random_window(1)])
    assert len(seen.errors) == random_window(1).supervised_count


def agent_window(written: int, others: int = 10) -> Window:
    return Window((7,) * (written + others), (False,) * others + (True,) * written)


@given(
    counts=st.lists(st.integers(0, 50), min_size=1, max_size=20),
    most=st.integers(1, 20),
    supervised=st.integers(1, 200),
)
def test_what_is_read_holds_most_supervised_tokens_of_so_many_windows(
    counts: list[int], most: int, supervised: int
) -> None:
    windows = [agent_window(count) for count in counts]
    chosen = worth_reading(windows, most, supervised)
    assert chosen == sorted(set(chosen))
    assert len(chosen) <= most
    left = [counts[index] for index in range(len(counts)) if index not in chosen]
    read = [counts[index] for index in chosen]
    assert all(count > 0 for count in read)
    assert not read or max(left, default=0) <= min(read)
    assert sum(read) - (min(read) if read else 0) < supervised
    if len(chosen) < min(most, sum(count > 0 for count in counts)):
        assert sum(read) >= supervised


def test_of_equals_the_later_ones_are_read() -> None:
    assert worth_reading([agent_window(5), agent_window(5), agent_window(5)], 2, 100) == [1, 2]
