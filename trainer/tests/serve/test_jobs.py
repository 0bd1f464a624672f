import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from data.sessions import agent, session_json, user
from imprint_trainer.jobs.resume import OF_THE_MACHINE
from serve.conftest import Spec
from serve.running import WAIT_SECONDS, RunningWorker, is_progress

NewJobId = Callable[[], str]


def types(events: list[dict[str, Any]]) -> list[str]:
    return [event.get("phase", event["type"]) for event in events if event["type"] not in ("progress", "measuring")]


def test_ready_comes_first_and_names_protocol_device_and_versions(worker: RunningWorker) -> None:
    ready = worker.ready
    assert (ready["type"], ready["protocol"], ready["pid"], ready["device"]) == ("ready", 1, worker.process.pid, "cpu")
    assert {"torch", "transformers", "peft", "bitsandbytes"} <= set(ready["versions"])


def test_a_job_says_its_phases_its_plan_each_step_and_hands_over_its_files(
    worker: RunningWorker, lora_spec: Spec, new_job_id: NewJobId
) -> None:
    spec = lora_spec()
    events = worker.job(new_job_id(), spec)
    assert types(events) == ["preparing_data", "loading_model", "plan", "training", "saving", "proving", "done"]
    plan = next(event["plan"] for event in events if event["type"] == "plan")
    steps = [event["progress"]["step"] for event in events if is_progress(event)]
    assert steps == list(range(1, plan["max_steps"] + 1))
    result = events[-1]["result"]
    for file in result["files"]:
        content = (Path(spec["output_dir"]) / file["name"]).read_bytes()
        assert (file["size"], file["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    assert len(result["files"]) == len(list(Path(spec["output_dir"]).iterdir())) == 5
    assert result["proof"]["loss_after"] < result["proof"]["loss_before"]
    assert (result["rank"], result["alpha"]) == (4, 8)


def test_training_json_records_what_is_needed_to_do_it_again(
    worker: RunningWorker, lora_spec: Spec, new_job_id: NewJobId, session_path: Path, other_path: Path
) -> None:
    spec = lora_spec(
        session_paths=[str(session_path), str(other_path)],
        session_ids=["s1", "s2"],
        train_on="successful_steps",
        reasoning=True,
    )
    events = worker.job(new_job_id(), spec)
    record = json.loads((Path(spec["output_dir"]) / "training.json").read_text())
    assert record["losses"] == [event["progress"]["loss"] for event in events if is_progress(event)]
    assert record["sessions"] == [
        {"session_id": name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for name, path in (("s1", session_path), ("s2", other_path))
    ]
    assert record["selection"] == {
        "train_on": "successful_steps",
        "reasoning": True,
        "include_unsuccessful": False,
        "skip_invalid": False,
        "holdout": "none",
    }
    card = (Path(spec["output_dir"]) / "README.md").read_text()
    assert "2 recorded sessions: `s1`, `s2`" in card
    assert record["config"]["seed"] == 7
    assert record["stopped"] == "epochs"
    assert len(record["base_model"]["sha256"]) == 64
    assert len(record["data_order"]) == record["steps"] == 3


def test_a_job_and_its_card_name_what_was_skipped_and_what_sessions_share(
    worker: RunningWorker, lora_spec: Spec, new_job_id: NewJobId, session_path: Path, tmp_path: Path
) -> None:
    first = json.loads(session_path.read_text())
    resumed = first | {"session_id": "s2", "steps": [*first["steps"], user("Thanks?"), agent("With pleasure.")]}
    silent = first | {"session_id": "s3", "steps": [user("Hello?")]}
    paths = [session_path, tmp_path / "s2.json", tmp_path / "s3.json"]
    for path, session in zip(paths[1:], (resumed, silent), strict=True):
        path.write_text(json.dumps(session))
    damaged = {"session_id": "s4", "message": "The stored session s4 is cut off."}
    spec = lora_spec(
        session_paths=[str(path) for path in paths],
        session_ids=["s1", "s2", "s3"],
        skip_invalid=True,
        unreadable=[damaged],
        epochs=1,
    )
    plan = next(event["plan"] for event in worker.job(new_job_id(), spec) if event["type"] == "plan")
    assert [(one["session_id"], one["code"]) for one in plan["skipped"]] == [
        ("s4", "SESSION_INVALID"),
        ("s3", "NOTHING_TO_TRAIN"),
    ]
    assert plan["shared"] == [{"session_id": "s2", "supervised_in": "s1", "turns": 2}]
    assert {"reason": "shared_turn", "count": 2} in plan["dropped"]
    record = json.loads((Path(spec["output_dir"]) / "training.json").read_text())
    assert [one["session_id"] for one in record["sessions"]] == ["s1", "s2"]
    assert record["plan"] == {name: value for name, value in plan.items() if name not in OF_THE_MACHINE}
    card = (Path(spec["output_dir"]) / "README.md").read_text()
    assert "| skipped | `s4`: The stored session s4 is cut off. |" in card
    assert "| shared turns | 2 of `s2`, supervised in `s1` |" in card


@pytest.mark.parametrize("epochs", [2, None])
def test_the_same_request_twice_gives_the_same_bytes(
    worker: RunningWorker, lora_spec: Spec, new_job_id: NewJobId, epochs: int | None
) -> None:
    first, second = (worker.job(new_job_id(), lora_spec(out, epochs=epochs))[-1] for out in ("one", "two"))
    assert first["type"] == "done"
    assert first["result"] == second["result"]


def test_a_running_job_is_cancelled_and_leaves_nothing(
    worker: RunningWorker, lora_spec: Spec, new_job_id: NewJobId
) -> None:
    job, spec = new_job_id(), lora_spec(epochs=100)
    worker.send({"type": "train_lora", "job_id": job, "spec": spec})
    worker.until(is_progress)
    worker.send({"type": "cancel", "job_id": job})
    last = worker.until(lambda event: event["type"] in ("cancelled", "done", "failed"))
    assert last == {"type": "cancelled", "job_id": job}
    assert list(Path(spec["output_dir"]).iterdir()) == []


def test_a_waiting_job_is_cancelled_at_once_and_never_begins(
    worker: RunningWorker, lora_spec: Spec, new_job_id: NewJobId, tmp_path: Path
) -> None:
    first, second = new_job_id(), new_job_id()
    worker.send({"type": "train_lora", "job_id": first, "spec": lora_spec("one", epochs=100)})
    worker.send({"type": "train_lora", "job_id": second, "spec": lora_spec("two")})
    worker.until(is_progress)
    worker.send({"type": "cancel", "job_id": second})
    worker.send({"type": "cancel", "job_id": second})
    events = worker.collect(lambda event: event["type"] == "done")
    assert [event["type"] for event in events if event["job_id"] == second] == ["cancelled"]
    assert events[-1]["job_id"] == first
    assert not (tmp_path / "two").exists()


def test_cancelling_an_unknown_job_is_nothing(worker: RunningWorker, lora_spec: Spec, new_job_id: NewJobId) -> None:
    worker.send({"type": "cancel", "job_id": new_job_id()})
    assert worker.job(new_job_id(), lora_spec(epochs=1))[-1]["type"] == "done"


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"session_paths": ["/nowhere/s9.json"]}, "SESSION_INVALID", "s9.json"),
        ({"base_model": "/nowhere/model-x"}, "BASE_MODEL_NOT_FOUND", "model-x"),
        ({"target_modules": ["q_prj"]}, "TARGET_MODULES_NOT_FOUND", "q_proj"),
        ({"learning_rate": 1e-45}, "ADAPTER_UNCHANGED", ""),
    ],
)
def test_a_failed_job_names_the_cause_and_leaves_nothing(
    worker: RunningWorker, lora_spec: Spec, new_job_id: NewJobId, changes: dict[str, Any], code: str, words: str
) -> None:
    spec = lora_spec(**changes)
    error = worker.job(new_job_id(), spec)[-1]["error"]
    assert error["code"] == code
    assert words in error["message"]
    assert "Traceback" not in error["message"]
    assert list(Path(spec["output_dir"]).iterdir()) == []


def test_a_folder_that_is_not_empty_is_refused_and_kept(
    worker: RunningWorker, lora_spec: Spec, new_job_id: NewJobId
) -> None:
    spec = lora_spec()
    Path(spec["output_dir"]).mkdir()
    (Path(spec["output_dir"]) / "precious").write_text("kept")
    error = worker.job(new_job_id(), spec)[-1]["error"]
    assert (error["code"], error["message"]) == ("TRAINER_ERROR", "output_dir is not empty")
    assert (Path(spec["output_dir"]) / "precious").read_text() == "kept"


def test_a_healthy_job_on_a_4_bit_base_logs_nothing(tiny_folder: Path, lora_spec: Spec, new_job_id: NewJobId) -> None:
    running = RunningWorker("--base-model", str(tiny_folder))
    assert running.job(new_job_id(), lora_spec())[-1]["type"] == "done"
    assert running.close() == 0
    assert running.drained.wait(WAIT_SECONDS)
    assert running.stderr == []


def test_the_digest_of_a_base_model_is_kept_for_the_next_worker(
    tiny_folder: Path, lora_spec: Spec, new_job_id: NewJobId, tmp_path: Path
) -> None:
    kept = tmp_path / "digests.json"
    found = []
    for out in ("first", "second"):
        running = RunningWorker("--digests", str(kept))
        spec = lora_spec(out)
        assert running.job(new_job_id(), spec)[-1]["type"] == "done"
        assert running.close() == 0
        found.append(json.loads((Path(spec["output_dir"]) / "training.json").read_text())["base_model"]["sha256"])
        known = json.loads(kept.read_text())
        assert str(tiny_folder / "model.safetensors") in known
        for entry in known.values():
            entry["sha256"] = "5" * 64
        kept.write_text(json.dumps(known))
    assert found[0] != found[1]  # of the digests that were put in its place


def test_a_training_that_holds_out_says_so_before_during_and_after(
    worker: RunningWorker, lora_spec: Spec, new_job_id: NewJobId, tmp_path: Path
) -> None:
    paths = [tmp_path / f"n{number}.json" for number in range(3)]
    for path in paths:
        steps = [user(f"Fix {path.stem}."), agent(f"I fixed {path.stem}: it said {path.stem * 3}.")]
        path.write_text(json.dumps(session_json(steps, session_id=path.stem)))
    sessions = {"session_paths": [str(path) for path in paths], "session_ids": [path.stem for path in paths]}
    spec = lora_spec(**sessions, profile="learn", holdout="auto", epochs=None, max_length=None)
    events = worker.job(new_job_id(), spec)
    plan = next(event["plan"] for event in events if event["type"] == "plan")
    assert (plan["held_out"]["sessions"], plan["held_out"]["whole"]) == (["n2"], True)
    assert plan["epochs"] == 4
    progress = [event["progress"] for event in events if is_progress(event)]
    proof = events[-1]["result"]["proof"]
    record = json.loads((Path(spec["output_dir"]) / "training.json").read_text())
    assert [progress[-1]["held_out_loss"], proof["held_out"]["loss_before"]] == pytest.approx(
        [record["held_out_losses"][-1], record["held_out_losses"][0]], abs=1e-3
    )
    assert proof["held_out"]["loss_after"] == pytest.approx(min(record["held_out_losses"][1:]), abs=1e-3)
    assert record["held_out_losses"].index(min(record["held_out_losses"][1:])) == record["kept_epoch"]
