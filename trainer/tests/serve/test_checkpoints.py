"""Checkpoints of real jobs in real processes: resumed after a cancel and a crash, salvaged, refused."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from data.sessions import agent, session_json, user
from serve.conftest import Spec
from serve.running import RunningWorker, is_progress

NewJobId = Callable[[], str]


def checkpointed(spec: dict[str, Any], start: str, seconds: float = 3600) -> dict[str, Any]:
    return spec | {"checkpoint": {**spec["checkpoint"], "start": start, "seconds": seconds}}


def files(spec: dict[str, Any]) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(spec["output_dir"]).iterdir()}


def cancel_after(worker: RunningWorker, job_id: str, spec: dict[str, Any], step: int) -> list[dict[str, Any]]:
    worker.send({"type": "train_lora", "job_id": job_id, "spec": spec})
    worker.until(lambda event: is_progress(event) and event["progress"]["step"] >= step)
    worker.send({"type": "cancel", "job_id": job_id})
    return worker.collect(lambda event: event["type"] in ("cancelled", "done", "failed"))


@pytest.fixture
def long_spec(lora_spec: Spec, session_path: Path, other_path: Path) -> Spec:
    """Two sessions and enough steps to be cancelled in."""

    def make(out: str = "out", **changes: Any) -> dict[str, Any]:
        sessions = {"session_paths": [str(session_path), str(other_path)], "session_ids": ["s1", "s2"]}
        return lora_spec(out, epochs=40, include_unsuccessful=True, **(sessions | changes))

    return make


def test_a_cancelled_job_leaves_a_checkpoint_that_resumes_to_the_same_files(
    worker: RunningWorker, long_spec: Spec, new_job_id: NewJobId
) -> None:
    plain = long_spec("plain")
    whole = worker.job(new_job_id(), plain)[-1]
    events = cancel_after(worker, new_job_id(), long_spec("one"), 3)
    assert events[-1]["type"] == "cancelled"
    kept = next(event["step"] for event in events if event["type"] == "checkpoint")
    assert kept >= 3
    spec = checkpointed(long_spec("two"), "resume")
    resumed = worker.job(new_job_id(), spec)
    assert next(event["step"] for event in resumed if event["type"] == "checkpoint") == kept
    assert next(event["progress"]["step"] for event in resumed if is_progress(event)) == kept + 1
    assert resumed[-1]["result"] == whole["result"]
    assert files(spec) == files(plain)


def test_a_killed_worker_leaves_a_checkpoint_for_the_next_one(
    tiny_folder: Path, long_spec: Spec, new_job_id: NewJobId
) -> None:
    first = RunningWorker("--base-model", str(tiny_folder))
    spec = checkpointed(long_spec("one"), "fresh", seconds=0)
    first.send({"type": "train_lora", "job_id": new_job_id(), "spec": spec})
    first.until(lambda event: event["type"] == "checkpoint")
    first.process.kill()
    first.process.wait()
    second = RunningWorker("--base-model", str(tiny_folder))
    resumed, plain = checkpointed(long_spec("two"), "resume"), long_spec("plain")
    assert second.job(new_job_id(), resumed)[-1]["type"] == "done"
    assert second.job(new_job_id(), plain)[-1]["type"] == "done"
    assert files(resumed) == files(plain)
    assert second.close() == 0


def stored_training(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Changes what the checkpoint in `folder` says of its training's settings."""
    state = json.loads((folder / "checkpoint.json").read_text())
    change(state["identity"]["request"]["training"])
    (folder / "checkpoint.json").write_text(json.dumps(state))


def test_a_checkpoint_from_before_a_setting_was_there_resumes_to_the_same_files(
    worker: RunningWorker, long_spec: Spec, new_job_id: NewJobId, tmp_path: Path
) -> None:
    plain = long_spec("plain")
    worker.job(new_job_id(), plain)
    cancel_after(worker, new_job_id(), long_spec("one"), 3)
    stored_training(tmp_path / "checkpoint", lambda training: training.pop("warmup_fraction"))
    spec = checkpointed(long_spec("two"), "resume")
    assert worker.job(new_job_id(), spec)[-1]["type"] == "done"
    assert files(spec) == files(plain)


def test_a_checkpoint_of_a_newer_imprint_is_refused_by_what_is_unknown(
    worker: RunningWorker, long_spec: Spec, new_job_id: NewJobId, tmp_path: Path
) -> None:
    cancel_after(worker, new_job_id(), long_spec("one"), 1)
    stored_training(tmp_path / "checkpoint", lambda training: training.update(sparkle=3))
    error = worker.job(new_job_id(), checkpointed(long_spec("two"), "resume"))[-1]["error"]
    assert (error["code"], error["message"]) == (
        "CHECKPOINT_INVALID",
        "checkpoint.json: request.training.sparkle is not a known field: a newer Imprint may have written it",
    )


def test_a_checkpoint_is_salvaged_as_an_adapter_that_says_so(
    worker: RunningWorker, long_spec: Spec, new_job_id: NewJobId
) -> None:
    kept = cancel_after(worker, new_job_id(), long_spec("one"), 3)[-2]["step"]
    spec = checkpointed(long_spec("two"), "salvage")
    events = worker.job(new_job_id(), spec)
    assert not any(is_progress(event) for event in events)
    result, written = events[-1]["result"], files(spec)
    assert result["partial"] == {"step": kept, "max_steps": 40}
    assert f"Partial: salvaged after {kept} of at most 40 optimizer steps." in written["README.md"].decode()
    assert json.loads(written["proof.json"]) == result["proof"]
    assert result["proof"]["loss_after"] < result["proof"]["loss_before"]
    record = json.loads(written["training.json"])
    assert (record["stopped"], record["steps"], len(record["losses"])) == ("salvaged", kept, kept)


@pytest.mark.parametrize("start", ["resume", "salvage"])
def test_other_data_is_refused_by_name_and_leaves_nothing(
    worker: RunningWorker, long_spec: Spec, new_job_id: NewJobId, session_path: Path, tmp_path: Path, start: str
) -> None:
    cancel_after(worker, new_job_id(), long_spec("one"), 1)
    kept = {path.name: path.read_bytes() for path in (tmp_path / "checkpoint").iterdir()}
    session_path.write_text(json.dumps(session_json([user("Something else."), agent("Done.")])))
    spec = checkpointed(long_spec("two"), start)
    error = worker.job(new_job_id(), spec)[-1]["error"]
    assert (error["code"], error["message"]) == (
        "CHECKPOINT_MISMATCH",
        "the checkpoint was made with another session s1",
    )
    assert files(spec) == {}
    assert {path.name: path.read_bytes() for path in (tmp_path / "checkpoint").iterdir()} == kept


@pytest.mark.parametrize("start", ["resume", "salvage"])
def test_without_a_checkpoint_there_is_nothing_to_go_on_from(
    worker: RunningWorker, lora_spec: Spec, new_job_id: NewJobId, start: str
) -> None:
    spec = checkpointed(lora_spec(), start)
    assert worker.job(new_job_id(), spec)[-1]["error"]["code"] == "CHECKPOINT_INVALID"
    assert files(spec) == {}


def test_another_number_of_threads_is_a_warning(
    worker: RunningWorker, lora_spec: Spec, new_job_id: NewJobId, tmp_path: Path
) -> None:
    spec = checkpointed(lora_spec("one"), "fresh", seconds=0)
    assert worker.job(new_job_id(), spec)[-1]["result"]["warnings"] == []
    state = tmp_path / "checkpoint" / "checkpoint.json"
    value = json.loads(state.read_text())
    state.write_text(json.dumps(value | {"made_with": value["made_with"] | {"threads": 64, "torch": "1.0"}}))
    warnings = worker.job(new_job_id(), checkpointed(lora_spec("two"), "resume"))[-1]["result"]["warnings"]
    assert warnings == [
        "The checkpoint was made with another threads, another torch: an uninterrupted training may differ."
    ]
    shutil.rmtree(tmp_path / "checkpoint")


def test_a_worker_whose_service_is_gone_keeps_what_it_had(
    tiny_folder: Path, long_spec: Spec, new_job_id: NewJobId, tmp_path: Path
) -> None:
    running = RunningWorker("--base-model", str(tiny_folder))
    running.send({"type": "train_lora", "job_id": new_job_id(), "spec": long_spec()})
    step = running.until(is_progress)["progress"]["step"]
    running.close()
    assert json.loads((tmp_path / "checkpoint" / "checkpoint.json").read_text())["step"] >= step
