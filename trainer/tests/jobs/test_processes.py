"""LoRA jobs of a worker whose trainings may have two processes."""

import json
from pathlib import Path
from typing import Any

import psutil
import pytest

from data.sessions import agent, session_json, user
from data.test_shared import spec_of
from imprint_trainer.errors import Cancelled
from imprint_trainer.jobs.worker import Worker
from imprint_trainer.protocol import TrainLora, TrainLoraSpec

from .tiny import tiny_job


def job_of(turns: int, base_model: Path, folder: Path) -> TrainLora:
    steps = [step for at in range(turns) for step in (user(f"Fix bug {at}, please."), agent(f"Bug {at} is fixed now."))]
    session = folder / "s.json"
    session.write_text(json.dumps(session_json(steps)))
    data = spec_of([session], base_model=str(base_model), max_length=256, epochs=40).model_dump()
    spec = TrainLoraSpec.model_validate(data | tiny_job(folder))
    return TrainLora(type="train_lora", job_id="0" * 26, spec=spec)


@pytest.mark.parametrize(("turns", "processes"), [(120, 2), (4, 1)])
def test_steps_of_several_windows_are_shared_and_a_cancel_ends_all_processes(
    turns: int, processes: int, tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    events: list[dict[str, Any]] = []
    members: list[int] = []

    def emit(event: dict[str, Any]) -> None:
        events.append(event)
        if event["type"] == "progress":
            members.append(len(psutil.Process().children()))

    worker = Worker(device="cpu", threads=1, processes=2)
    with pytest.raises(Cancelled):
        worker.run(job_of(turns, tiny_folder, tmp_path), emit=emit, cancelled=lambda: bool(members))
    (plan,) = [event["plan"] for event in events if event["type"] == "plan"]
    assert plan.get("processes", 1) == plan["accumulation"] == processes
    assert members == [processes - 1]
    assert psutil.Process().children() == []
