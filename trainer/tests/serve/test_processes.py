"""A worker whose trainings may have two processes."""

import json
from collections.abc import Callable
from pathlib import Path

import psutil

from data.sessions import agent, session_json, user
from serve.conftest import Spec
from serve.running import RunningWorker, is_progress

NewJobId = Callable[[], str]


def test_a_long_session_is_trained_by_two_processes_and_a_cancel_ends_both(
    tiny_folder: Path, lora_spec: Spec, new_job_id: NewJobId, tmp_path: Path
) -> None:
    turns = [turn for at in range(120) for turn in (user(f"Fix bug {at}, please."), agent(f"Bug {at} is fixed now."))]
    session = tmp_path / "long.json"
    session.write_text(json.dumps(session_json(turns, session_id="long")))
    spec = lora_spec(session_paths=[str(session)], session_ids=["long"], max_length=256, epochs=40)
    worker = RunningWorker("--base-model", str(tiny_folder), "--processes", "2")
    job_id = new_job_id()
    worker.send({"type": "train_lora", "job_id": job_id, "spec": spec})
    plan = worker.until(lambda event: event["type"] == "plan")["plan"]
    assert (plan["accumulation"], plan["processes"]) == (2, 2)
    worker.until(is_progress)
    (member,) = psutil.Process(worker.process.pid).children()
    worker.send({"type": "cancel", "job_id": job_id})
    events = worker.collect(lambda event: event["type"] in ("cancelled", "done", "failed"))
    assert [event["type"] for event in events[-2:]] == ["checkpoint", "cancelled"]
    assert not member.is_running()
    assert worker.close() == 0
