"""All trainers that are compared do the same work: their losses are the same, step by step."""

import io
import json
import sys
from pathlib import Path

import pytest
import torch

from imprint_bench.trainers import TrainerName, loaded
from imprint_bench.training import main
from imprint_bench.windows import made_up_windows
from imprint_trainer.models.causal_lm import Quantization

STEPS = 4


def losses(name: TrainerName, folder: Path, quantization: Quantization) -> list[float]:
    found: list[float] = []
    begun: list[int] = []
    run = loaded(name, str(folder), quantization, torch.device("cpu"))
    windows = made_up_windows(300, lengths=[40, 25], seed=3)
    run(windows, STEPS, lambda: begun.append(len(found)), lambda loss, seconds: found.append(loss))
    assert begun == list(range(STEPS))
    return found


@pytest.mark.parametrize("quantization", ["nf4", "none"])
def test_the_trainers_see_the_same_losses(tiny_folder: Path, quantization: Quantization) -> None:
    ours = losses("imprint", tiny_folder, quantization)
    assert ours[-1] < ours[0]
    close = 1e-2 if quantization == "nf4" else 1e-3  # above NF4 ours computes in bf16 where the CPU can
    assert losses("plain", tiny_folder, quantization) == pytest.approx(ours, rel=close)
    assert losses("trl", tiny_folder, quantization) == pytest.approx(ours, rel=close)


def test_a_step_follows_each_line(
    tiny_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n\n"))
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    words = ["--by", "imprint", "--base", str(tiny_folder), "--max-length", "32", "--steps", "2"]
    assert main([*words, "--device", "cpu"]) == 0
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [sorted(line) for line in said] == [["loaded_mb", "tokens"], *[["loss", "seconds"]] * 2, ["peak_mb"]]
    assert said[0]["tokens"] == 64
    assert said[-1]["peak_mb"] >= said[0]["loaded_mb"] > 0


def test_a_trainer_that_is_not_installed_is_named(
    tiny_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "trl", None)
    assert main(["--by", "trl", "--base", str(tiny_folder)]) == 2
    assert capsys.readouterr().err == "trl is not installed.\n"
