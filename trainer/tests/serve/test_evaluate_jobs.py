import json
from pathlib import Path
from typing import Any

import pytest

from imprint_trainer.models.causal_lm import LoadedBase
from publish.sources import random_payload, write_adapter
from serve.running import RunningWorker, job_id


@pytest.fixture
def evaluate_spec(base: LoadedBase, tiny_folder: Path, tmp_path: Path, session_path: Path) -> dict[str, Any]:
    adapter = write_adapter(tmp_path / "adapter", random_payload(base.model))
    return {
        "adapter_id": "tiny-adapter",
        "adapter_path": str(adapter),
        "base_model": str(tiny_folder),
        "base_model_name": "tiny",
        "sessions": [{"session_id": "s1", "path": str(session_path)}],
        "trained_on": [],
        "control": None,
        "actions": 5,
        "seed": 0,
        "cache_dir": str(tmp_path / "cache"),
        "output_dir": str(tmp_path / "out"),
    }


def test_an_evaluation_hands_over_its_figures_and_the_card(
    worker: RunningWorker, evaluate_spec: dict[str, Any]
) -> None:
    *before, done = worker.job(job_id(900), evaluate_spec, kind="evaluate")
    assert [event["phase"] for event in before if event["type"] == "phase"][-2:] == ["measuring", "saving"]
    assert [event["measuring"]["done"] for event in before if event["type"] == "measuring"] == [0, 1, 2, 3]
    assert [file["name"] for file in done["result"]["files"]] == ["README.md", "evaluation.json"]
    out = Path(evaluate_spec["output_dir"])
    assert json.loads((out / "evaluation.json").read_text()) == done["result"]["evaluation"]


def test_an_evaluation_without_a_session_to_test_on_fails_and_leaves_nothing(
    worker: RunningWorker, evaluate_spec: dict[str, Any]
) -> None:
    spec = evaluate_spec | {"trained_on": evaluate_spec["sessions"]}
    failed = worker.job(job_id(901), spec, kind="evaluate")[-1]
    assert (failed["type"], failed["error"]["code"]) == ("failed", "NOTHING_TO_EVALUATE")
    assert "s1" in failed["error"]["message"]
    assert list(Path(spec["output_dir"]).iterdir()) == []


def test_a_cancelled_evaluation_ends_and_the_next_job_runs(
    worker: RunningWorker, evaluate_spec: dict[str, Any]
) -> None:
    worker.send({"type": "evaluate", "job_id": job_id(902), "spec": evaluate_spec})
    worker.send({"type": "cancel", "job_id": job_id(902)})
    assert worker.until(lambda event: event.get("job_id") == job_id(902) and event["type"] == "cancelled")
    assert worker.job(job_id(903), evaluate_spec, kind="evaluate")[-1]["type"] == "done"
