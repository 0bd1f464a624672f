import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from imprint_trainer.data.plan import MOST_ON_CPU
from imprint_trainer.memory_report import main
from imprint_trainer.models.memory_model import WINDOWS
from models.test_memory import base_folder

ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1] / "src")}


def reported(*arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-X", "importtime", "-m", "imprint_trainer.memory_report", *arguments]
    ran = subprocess.run(command, capture_output=True, check=True, text=True, env=ENVIRONMENT)
    assert "torch" not in [line.split("|")[-1].strip() for line in ran.stderr.splitlines()]
    answer: dict[str, Any] = json.loads(ran.stdout)
    return answer


def test_every_window_is_reported_without_torch(tmp_path: Path) -> None:
    report = reported("--base-model", str(base_folder(tmp_path)), "--device", "cpu", "--tokens", "700")
    assert report["length"] == 700
    assert [one["length"] for one in report["windows"]] == list(WINDOWS)
    totals = [one["total_mb"] for one in report["windows"] if not one["gradient_checkpointing"]]
    assert totals == sorted(totals)
    assert report["memory"]["fits"]


def test_the_longest_window_is_the_one_that_a_training_takes(tmp_path: Path) -> None:
    folder = base_folder(tmp_path, max_position_embeddings=16384)
    assert reported("--base-model", str(folder), "--device", "cpu")["length"] == MOST_ON_CPU


def test_a_base_model_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    try:
        main(["--base-model", str(tmp_path / "absent"), "--device", "cpu"])
    except SystemExit as error:
        assert str(error).startswith("absent is neither a folder nor a hub id")
    else:
        raise AssertionError
