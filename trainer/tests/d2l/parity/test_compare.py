import pytest
import torch

from imprint_trainer.doc_to_lora.parity.compare import compare

EXPECTED = torch.tensor([1.0, -4.0, 0.0])


@pytest.mark.parametrize(
    ("error", "passed"),
    [
        ([0.0, 0.0, 0.0], True),
        ([0.0, 0.0, 3.9e-3], True),
        ([0.0, 0.0, 4.1e-3], False),
        ([0.0, -0.04, 0.0], True),
        ([0.0, float("nan"), 0.0], False),
        ([float("inf"), 0.0, 0.0], False),
    ],
)
def test_the_tolerance_scales_with_the_tensor_and_the_element(error: list[float], passed: bool) -> None:
    check = compare("x", EXPECTED + torch.tensor(error), EXPECTED, atol=1e-3, rtol=1e-2)
    assert check.passed is passed


def test_another_shape_fails() -> None:
    assert not compare("x", EXPECTED[None], EXPECTED, atol=1, rtol=1).passed


def test_a_tensor_of_zeros_must_be_met_exactly() -> None:
    zeros = torch.zeros(3)
    assert compare("x", zeros, zeros, atol=1e-3, rtol=1e-2).passed
    assert not compare("x", zeros + 1e-9, zeros, atol=1e-3, rtol=1e-2).passed
