"""The checks of a graphics card, rehearsed on the CPU with the tiny model: the same code, bf16 included."""

import os
import re
import sys
from pathlib import Path

import pytest
import torch

from imprint_bench import checks
from imprint_bench.gpu import main
from imprint_trainer.models.causal_lm import LoadedBase


def rehearse(folder: Path) -> int:
    words = ["--device", "cpu", "--length", "96", "--steps", "2"]
    return main(["--base", str(folder), *words])


def test_without_a_card_it_says_so(
    tiny_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert main(["--base", str(tiny_folder)]) == 2
    said = capsys.readouterr()
    assert said.err == (
        "torch finds no CUDA card on this machine; --device cpu rehearses the same checks on the CPU.\n"
    )
    assert said.out == ""


def test_the_rehearsal_runs_every_check(
    tiny_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(checks, "speed", lambda _, name: {"imprint": 200.0}.get(name))
    assert rehearse(tiny_folder) == 0
    lines = [re.split(r"\s{2,}", line, maxsplit=2) for line in capsys.readouterr().out.splitlines()]
    assert [(verdict, name) for verdict, name, _ in lines] == [
        ("shown", "card"),
        ("passed", "nf4"),
        ("passed", "checkpointing"),
        ("passed", "determinism"),
        ("shown", "memory model"),
        ("passed", "bf16"),
        ("shown", "throughput"),
    ]
    assert lines[3][2] == "the same request gave the same bytes"
    assert lines[6][2] == "imprint 200 tokens/s, trl not installed; the goal is 2 times trl"


def test_a_check_that_fails_ends_with_1(
    tiny_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(checks, "speed", lambda *_: 1.0)
    monkeypatch.setattr(checks, "CLOSE", -1.0)
    assert rehearse(tiny_folder) == 1
    assert "FAILED  bf16" in capsys.readouterr().out


def test_goals_are_shown_on_a_card_and_fail_no_good_one(
    base: LoadedBase, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "speed", lambda *_: 100.0)
    bench = checks.Bench(str(tiny_folder), torch.device("cuda"), length=48, steps=2)
    far_off = checks.Outcome((1.0,), (), peak_mb=1.0)
    assert checks.throughput(bench).passed is None
    assert checks.memory_model(bench, base, far_off).passed is None


def test_the_speed_is_that_of_a_training_in_a_process_of_its_own(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text('import sys\nsys.modules["trl"] = None  # not installed')
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    bench = checks.Bench(str(tiny_folder), torch.device("cpu"), length=48, steps=2)
    found = checks.speed(bench, "imprint")
    assert found is not None
    assert found > 0
    assert checks.speed(bench, "trl") is None
