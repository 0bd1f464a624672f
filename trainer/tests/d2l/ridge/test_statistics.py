from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from doc_to_lora.ridge.conftest import random_pieces
from imprint_trainer.doc_to_lora.checkpoint import store
from imprint_trainer.doc_to_lora.ridge.load import Ridge, load_ridge
from imprint_trainer.doc_to_lora.ridge.measure import measure
from imprint_trainer.doc_to_lora.ridge.statistics import compact, from_tensors
from imprint_trainer.errors import HypernetworkInvalid, HypernetworkNotInstalled


@settings(max_examples=20)
@given(seed=st.integers(0, 1000), axes=st.integers(1, 12))
def test_a_compact_moment_keeps_the_diagonal_and_stays_positive(seed: int, axes: int) -> None:
    rows = torch.randn(40, 12, generator=torch.Generator().manual_seed(seed)) * torch.logspace(0, -3, 12)
    moment = rows.mT @ rows / 40
    found = compact(moment[None], torch.eye(5), axes).inputs(0)
    torch.testing.assert_close(found.diagonal(), moment.diagonal(), rtol=0.02, atol=1e-6)
    assert float(torch.linalg.eigvalsh(found.double()).min()) > 0


def test_all_axes_are_the_moment_itself() -> None:
    rows = torch.randn(40, 12, generator=torch.Generator().manual_seed(0))
    moment = rows.mT @ rows / 40
    torch.testing.assert_close(compact(moment[None], torch.eye(5), 12).inputs(0), moment, rtol=0.02, atol=0.02)


def test_the_same_texts_give_the_same_statistics(model: Any, ridge: Ridge) -> None:
    again, tokens = measure(model, ridge.config, random_pieces())
    assert tokens == 60 * 36
    for name, tensor in again.tensors().items():
        torch.testing.assert_close(tensor, ridge.statistics.tensors()[name], rtol=0, atol=0)


def test_it_comes_back_from_a_folder(ridge: Ridge, tmp_path: Path) -> None:
    store.save(ridge.config, ridge.statistics.tensors(), tmp_path / "mine")
    found = load_ridge(tmp_path / "mine")
    assert found.config == ridge.config
    torch.testing.assert_close(found.statistics.inputs(0), ridge.statistics.inputs(0))
    assert store.find([tmp_path], "tiny") == {"ridge": tmp_path / "mine"}
    with pytest.raises(HypernetworkInvalid, match="ridge hypernetwork"):
        store.load(tmp_path / "mine")


@pytest.mark.parametrize("spoil", ["shape", "nan", "lacking"])
def test_tensors_that_do_not_fit_are_refused(ridge: Ridge, spoil: str) -> None:
    tensors = ridge.statistics.tensors()
    if spoil == "shape":
        tensors["errors"] = tensors["errors"][:-1]
    elif spoil == "nan":
        tensors["inputs.rest"] = tensors["inputs.rest"] * float("nan")
    else:
        del tensors["inputs.axes"]
    with pytest.raises(HypernetworkInvalid):
        from_tensors(tensors, ridge.config)


def test_unknown_settings_are_refused_by_name(ridge: Ridge, tmp_path: Path) -> None:
    store.save(ridge.config, ridge.statistics.tensors(), tmp_path / "mine")
    file = tmp_path / "mine" / store.CONFIG_FILE
    file.write_text(file.read_text().replace('"damping"', '"dampening"'))
    with pytest.raises(HypernetworkInvalid, match="dampening"):
        store.read_config(tmp_path / "mine")
    with pytest.raises(HypernetworkNotInstalled):
        store.find([tmp_path], "tiny")
