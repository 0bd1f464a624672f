"""LoRA jobs of a worker whose processes hold the base together."""

import json
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch
from safetensors.torch import load_file

from imprint_trainer.jobs.worker import Worker
from imprint_trainer.protocol import TrainLora

from .test_processes import job_of

CLOSE = 1e-4


@pytest.fixture(autouse=True)
def _sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))


def job(base_model: Path, folder: Path, output: str, **changes: Any) -> TrainLora:
    made = job_of(6, base_model, folder)
    values = {"quantization": "none", "epochs": 3, "holdout": "auto", "output_dir": str(folder / output)}
    return made.model_copy(update={"spec": made.spec.model_copy(update=values | changes)})


def sharing_worker(shard_base: bool) -> Worker:
    return Worker(device="cpu", threads=2, processes=2 if shard_base else 1, shard_base=shard_base)


def test_a_job_on_a_base_in_shards_makes_the_adapter_and_the_proof_of_one_process(
    tiny_folder: Path, tmp_path: Path
) -> None:
    results, plans, members = {}, {}, set()

    for name, shard_base in (("whole", False), ("shards", True)):

        def emit(event: dict[str, Any], name: str = name) -> None:
            if event["type"] == "plan":
                plans[name] = event["plan"]
            members.add((name, len(psutil.Process().children())))

        task = job(tiny_folder, tmp_path, name)
        results[name] = sharing_worker(shard_base).run(task, emit=emit, cancelled=lambda: False)
    assert (plans["shards"]["processes"], plans["shards"]["shard_base"]) == (2, True)
    assert "shard_base" not in plans["whole"]
    assert members == {("whole", 0), ("shards", 0), ("shards", 1)}
    assert psutil.Process().children() == []
    one, two = (json.loads((tmp_path / name / "training.json").read_text()) for name in ("whole", "shards"))
    assert two["losses"] == pytest.approx(one["losses"], abs=CLOSE, rel=0)
    assert {key: value for key, value in two.items() if "loss" not in key} == {
        key: value for key, value in one.items() if "loss" not in key
    }
    for key, tensor in load_file(tmp_path / "whole" / "adapter_model.safetensors").items():
        found = load_file(tmp_path / "shards" / "adapter_model.safetensors")[key]
        torch.testing.assert_close(found, tensor, atol=CLOSE, rtol=0)
    for key in ("loss_before", "loss_after", "neutral_loss_before", "neutral_loss_after"):
        assert results["shards"]["proof"][key] == pytest.approx(results["whole"]["proof"][key], abs=CLOSE)
