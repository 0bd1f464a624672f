"""Frozen products: the same numbers whoever multiplies, and gradients for the inputs alone."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from imprint_trainer.models import linear
from imprint_trainer.models.linear import FrozenLinear, freeze_linears, product

ENGINES = [False, *([True] if torch.backends.mkldnn.is_available() else [])]  # by oneDNN?


@pytest.fixture(params=ENGINES)
def by_onednn(request: Any, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(linear, "onednn_is_faster", lambda: request.param)
    return bool(request.param)


SIZE = st.integers(1, 70)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=40)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=3), SIZE, SIZE, st.booleans(), st.booleans())
def test_a_product_is_that_of_torch_to_rounding(
    engine: bool, leading: list[int], inputs: int, outputs: int, transposed: bool, biased: bool
) -> None:
    generator = torch.Generator().manual_seed(inputs * 100 + outputs)
    x = torch.randn(*leading, inputs, generator=generator)
    weight = torch.randn(inputs, outputs, generator=generator).t() if transposed else torch.randn(outputs, inputs)
    bias = torch.randn(outputs, generator=generator) if biased else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linear, "onednn_is_faster", lambda: engine)
        torch.testing.assert_close(product(x, weight, bias), F.linear(x, weight, bias), rtol=1e-5, atol=1e-5)


def test_a_frozen_linear_passes_gradients_to_its_input(by_onednn: bool) -> None:
    plain = nn.Linear(48, 80).requires_grad_(False)
    frozen = nn.Sequential(nn.Linear(48, 80)).requires_grad_(False)
    frozen[0].load_state_dict(plain.state_dict())
    freeze_linears(frozen)
    assert isinstance(frozen[0], FrozenLinear) == by_onednn
    x = torch.randn(2, 5, 48, requires_grad=True)
    (expected,) = torch.autograd.grad(plain(x).square().sum(), x)
    (found,) = torch.autograd.grad(frozen(x).square().sum(), x)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-4)
    assert frozen.state_dict().keys() == {"0.weight", "0.bias"}


@settings(max_examples=20)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=2), SIZE, SIZE, st.booleans(), st.booleans())
def test_a_bf16_weight_multiplies_rounded_inputs_and_gives_fp32(
    leading: list[int], inputs: int, outputs: int, transposed: bool, biased: bool
) -> None:
    generator = torch.Generator().manual_seed(inputs * 100 + outputs)
    x = torch.randn(*leading, inputs, generator=generator)
    weight = torch.randn(outputs, inputs, generator=generator).bfloat16()
    weight = weight.t().contiguous().t() if transposed else weight
    bias = torch.randn(outputs, generator=generator) if biased else None
    found = product(x, weight, bias)
    assert found.dtype == torch.float32
    exact = F.linear(x.bfloat16().double(), weight.double())  # rounded once, when the product is written
    rounded = exact.bfloat16().float()
    torch.testing.assert_close(found, rounded if bias is None else rounded + bias, rtol=2**-7, atol=1e-4)


def test_a_frozen_linear_in_bf16_passes_gradients_in_fp32() -> None:
    weight = torch.randn(80, 48, generator=torch.Generator().manual_seed(1))
    frozen = FrozenLinear(48, 80, bias=False, dtype=torch.bfloat16).requires_grad_(False)
    frozen.weight.copy_(weight)
    x = torch.randn(2, 5, 48, requires_grad=True)
    (found,) = torch.autograd.grad(frozen(x).square().sum(), x)
    (expected,) = torch.autograd.grad(F.linear(x, weight).square().sum(), x)
    assert found.dtype == torch.float32
    assert (found - expected).norm() < 0.02 * expected.norm()


def test_only_plain_fp32_linears_change(by_onednn: bool) -> None:
    class Own(nn.Linear):
        pass

    model = nn.ModuleList([nn.Linear(4, 4), Own(4, 4), nn.Linear(4, 4, dtype=torch.bfloat16), nn.Embedding(4, 4)])
    freeze_linears(model.requires_grad_(False))
    first = FrozenLinear if by_onednn else nn.Linear
    assert [type(module) for module in model] == [first, Own, nn.Linear, nn.Embedding]
    assert product(torch.ones(1, 4, dtype=torch.bfloat16), model[2].weight).dtype == torch.bfloat16
