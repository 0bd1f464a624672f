"""LoRA jobs side by side in a real worker: each as alone, whoever comes, is cancelled or fails meanwhile."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from serve.conftest import Spec
from serve.running import RunningWorker, is_progress, running_worker

NewJobId = Callable[[], str]
CLOSE = 1e-4
LONG = 100  # passes: nobody waits for its end


@pytest.fixture(scope="module")
def together(tiny_folder: Path) -> Iterator[RunningWorker]:
    with running_worker("--base-model", str(tiny_folder), "--jobs-per-batch", "3") as running:
        yield running


@pytest.fixture
def job(lora_spec: Spec, tmp_path: Path) -> Spec:
    def spec_of(name: str, **changes: Any) -> dict[str, Any]:
        checkpoint = {"dir": str(tmp_path / f"checkpoint-{name}"), "seconds": 3600, "start": "fresh"}
        Path(checkpoint["dir"]).mkdir(exist_ok=True)
        return lora_spec(name, adapter_id=name, checkpoint=checkpoint, **changes)

    return spec_of


def ends(worker: RunningWorker, jobs: set[str]) -> dict[str, dict[str, Any]]:
    """The last event of each of these jobs."""
    found: dict[str, dict[str, Any]] = {}
    while found.keys() != jobs:
        event = worker.until(lambda one: one["type"] in ("done", "failed", "cancelled"))
        found[event["job_id"]] = event
    return found


def start(worker: RunningWorker, job_id: str, spec: dict[str, Any]) -> str:
    worker.send({"type": "train_lora", "job_id": job_id, "spec": spec})
    return job_id


def test_jobs_that_come_while_one_trains_train_beside_it_and_are_what_each_is_alone(
    together: RunningWorker, job: Spec, new_job_id: NewJobId
) -> None:
    first = start(together, new_job_id(), job("long", epochs=LONG))
    together.until(is_progress)
    second = start(together, new_job_id(), job("second"))
    third = start(together, new_job_id(), job("third", rank=8, seed=3))
    found = ends(together, {second, third})  # while the first one trains
    together.send({"type": "cancel", "job_id": first})
    assert ends(together, {first}) == {first: {"type": "cancelled", "job_id": first}}
    assert (Path(job("long")["checkpoint"]["dir"]) / "checkpoint.json").is_file()
    for name, job_id, changes in (("second", second, {}), ("third", third, {"rank": 8, "seed": 3})):
        alone = job(f"{name}-alone", **changes)
        result = together.job(new_job_id(), alone)[-1]["result"]
        proof, expected = found[job_id]["result"]["proof"], result["proof"]
        assert proof["loss_after"] == pytest.approx(expected["loss_after"], abs=CLOSE)
        tensors = load_file(Path(job(name)["output_dir"]) / "adapter_model.safetensors")
        for key, tensor in load_file(Path(alone["output_dir"]) / "adapter_model.safetensors").items():
            assert (tensors[key] - tensor).abs().max() <= CLOSE


def test_one_that_cannot_be_trained_fails_alone(
    together: RunningWorker, job: Spec, new_job_id: NewJobId, tmp_path: Path
) -> None:
    first = start(together, new_job_id(), job("good", epochs=LONG))
    together.until(is_progress)
    bad = start(together, new_job_id(), job("bad", session_paths=[str(tmp_path / "nowhere.json")]))
    assert ends(together, {bad})[bad]["type"] == "failed"
    together.send({"type": "cancel", "job_id": first})
    assert ends(together, {first})[first]["type"] == "cancelled"


def test_the_end_of_stdin_keeps_a_checkpoint_of_each(together: RunningWorker, job: Spec, new_job_id: NewJobId) -> None:
    """The last one: it ends the worker."""
    names = ("one", "two")
    jobs = [start(together, new_job_id(), job(name, epochs=LONG)) for name in names]
    for job_id in jobs:
        together.until(lambda event, job_id=job_id: is_progress(event) and event["job_id"] == job_id)
    assert together.close() == 0
    for name in names:
        assert (Path(job(name)["checkpoint"]["dir"]) / "checkpoint.json").is_file()
