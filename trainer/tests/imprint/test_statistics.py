from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from imprint.conftest import random_pieces
from imprint_trainer.errors import HypernetworkInvalid
from imprint_trainer.imprint.solve import ClosedForm
from imprint_trainer.imprint.statistics import compact, from_tensors, measure


@settings(max_examples=20)
@given(seed=st.integers(0, 1000), axes=st.integers(1, 12))
def test_a_compact_moment_keeps_the_diagonal_and_stays_positive(seed: int, axes: int) -> None:
    rows = torch.randn(40, 12, generator=torch.Generator().manual_seed(seed)) * torch.logspace(0, -3, 12)
    moment = rows.mT @ rows / 40
    found = compact(moment[None], torch.eye(5), axes).inputs(0)
    torch.testing.assert_close(found.diagonal(), moment.diagonal(), rtol=0.02, atol=1e-6)
    assert float(torch.linalg.eigvalsh(found.double()).min()) > 0


@settings(max_examples=20)
@given(seed=st.integers(0, 1000), axes=st.integers(1, 12))
def test_a_compact_moment_is_inverted_as_it_stands_whole(seed: int, axes: int) -> None:
    rows = torch.randn(40, 12, generator=torch.Generator().manual_seed(seed)) * torch.logspace(0, -3, 12)
    found = compact((rows.mT @ rows / 40)[None], torch.eye(5), axes)
    columns = found.axes[0, :, :1].float()  # what the axes explain, which the diagonal alone would not undo
    whole = found.axes[0].double() @ found.axes[0].double().mT + torch.diag(found.rest[0].double())
    torch.testing.assert_close(found.solve(0, columns).double(), torch.linalg.solve(whole, columns.double()))


def test_all_axes_are_the_moment_itself() -> None:
    rows = torch.randn(40, 12, generator=torch.Generator().manual_seed(0))
    moment = rows.mT @ rows / 40
    torch.testing.assert_close(compact(moment[None], torch.eye(5), 12).inputs(0), moment, rtol=0.02, atol=0.02)


def test_the_same_texts_give_the_same_statistics(model: Any, closed_form: ClosedForm) -> None:
    # Both here: a test of other numbers of threads may stand between this one and the fixture
    (once, tokens), (again, _) = (measure(model, closed_form.config, random_pieces()) for _ in range(2))
    assert tokens == 60 * 36
    for name, tensor in again.tensors().items():
        torch.testing.assert_close(tensor, once.tensors()[name], rtol=0, atol=0)


def test_errors_are_stored_once_and_read_as_they_were_also_where_they_are_stored_twice(closed_form: ClosedForm) -> None:
    rows = torch.randn(90, closed_form.config.feature_size, generator=torch.Generator().manual_seed(0))
    errors = (rows.mT @ rows).triu()
    errors = errors + errors.triu(1).mT
    tensors = replace(closed_form.statistics, errors=errors).tensors()
    assert tensors["errors"].numel() == len(errors) * (len(errors) + 1) // 2
    for stored in (tensors, tensors | {"errors": errors}):
        assert torch.equal(from_tensors(stored, closed_form.config).errors, errors)


@pytest.mark.parametrize("spoil", ["shape", "nan", "lacking"])
def test_tensors_that_do_not_fit_are_refused(closed_form: ClosedForm, spoil: str) -> None:
    tensors = closed_form.statistics.tensors()
    if spoil == "shape":
        tensors["errors"] = tensors["errors"][:-1]
    elif spoil == "nan":
        tensors["inputs.rest"] = tensors["inputs.rest"] * float("nan")
    else:
        del tensors["inputs.axes"]
    with pytest.raises(HypernetworkInvalid):
        from_tensors(tensors, closed_form.config)
