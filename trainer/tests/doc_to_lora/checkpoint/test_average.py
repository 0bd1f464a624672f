from pathlib import Path

import pytest
import torch

from imprint_trainer.doc_to_lora.checkpoint.average import average
from imprint_trainer.doc_to_lora.checkpoint.store import load, save
from imprint_trainer.doc_to_lora.cli import main
from imprint_trainer.doc_to_lora.config import HypernetworkConfig
from imprint_trainer.errors import HypernetworkInvalid

from ..tiny import random_tensors, tiny_config, tiny_model

CONFIG = tiny_config(tiny_model(), use_bias=True)


def folder_of(parent: Path, name: str, *, seed: int, config: HypernetworkConfig = CONFIG) -> Path:
    save(config, random_tensors(config, seed=seed), parent / name)
    return parent / name


def test_a_mean_weighs_each_weight_of_each_hypernetwork(tmp_path: Path) -> None:
    folders = [folder_of(tmp_path, "one", seed=1), folder_of(tmp_path, "two", seed=2)]
    average(folders, [3, 1], tmp_path / "mean")
    one, two, mean = (load(tmp_path / name).state_dict() for name in ("one", "two", "mean"))
    assert all(torch.equal(mean[key], (0.75 * one[key] + 0.25 * two[key]).bfloat16().float()) for key in mean)


def test_the_mean_of_one_is_itself_scaled_as_is_said(tmp_path: Path) -> None:
    one = folder_of(tmp_path, "one", seed=1)
    average([one], None, tmp_path / "scaled", generated_scale=2.0, learned_scale=0.5)
    scales = {"scaler_B.down_proj": 2.0, "bias_B.down_proj": 0.5}
    before, after = load(one).state_dict(), load(tmp_path / "scaled").state_dict()
    assert scales.keys() <= before.keys()
    assert all(torch.equal(after[key], (before[key] * scales.get(key, 1.0)).bfloat16().float()) for key in before)


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [0.0, 0.0], [1.0, float("nan")], [1.0, float("inf")]])
def test_weights_without_a_mean_are_refused(tmp_path: Path, weights: list[float]) -> None:
    folders = [folder_of(tmp_path, "one", seed=1), folder_of(tmp_path, "two", seed=2)]
    with pytest.raises(HypernetworkInvalid, match="--weights: give 2 numbers"):
        average(folders, weights, tmp_path / "mean")
    assert not (tmp_path / "mean").exists()


def test_another_shape_has_no_mean_with_this_one(tmp_path: Path) -> None:
    wide = tiny_config(tiny_model(layers=4), use_bias=True)
    folders = [folder_of(tmp_path, "one", seed=1), folder_of(tmp_path, "wide", seed=2, config=wide)]
    with pytest.raises(HypernetworkInvalid, match="wide has another base or shape than one"):
        average(folders, None, tmp_path / "mean")


def test_ranks_that_there_are_none_of_cannot_be_scaled(tmp_path: Path) -> None:
    plain = folder_of(tmp_path, "plain", seed=1, config=tiny_config(tiny_model(), use_bias=False))
    with pytest.raises(HypernetworkInvalid, match="--learned-scale: plain has no learned ranks"):
        average([plain], None, tmp_path / "mean", learned_scale=0.5)


def test_the_command_averages_and_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = (str(folder_of(tmp_path, name, seed=seed)) for seed, name in enumerate(("one", "two")))
    out = tmp_path / "mean"
    assert main(["average", one, two, "--weights", "1", "0", "--out", str(out)]) == 0
    assert torch.equal(load(out).head.weight, load(Path(one)).head.weight.bfloat16().float())
    assert main(["average", one, two, "--weights", "1", "--out", str(out)]) == 2
    assert "--weights" in capsys.readouterr().err
    assert main(["average", one, "--generated-scale", "nan", "--out", str(out)]) == 2
    assert torch.equal(load(out).head.weight, load(Path(one)).head.weight.bfloat16().float())
