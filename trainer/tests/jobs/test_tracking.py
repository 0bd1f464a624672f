"""What a tracker is told of a training. The doubles take what mlflow-skinny 3.17, wandb 0.31 and trackio 0.43 take."""

import json
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from data.sessions import agent, session_json, user
from data.test_select import spec_of
from imprint_trainer.jobs import tracking
from imprint_trainer.jobs.tracking import tracked
from imprint_trainer.jobs.worker import Worker
from imprint_trainer.protocol import TrainLora, TrainLoraSpec
from jobs.tiny import tiny_job

Calls = list[tuple[str, tuple[Any, ...], dict[str, Any]]]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """What was called of any tracker, in its order."""
    made: Calls = []

    def double(name: str, functions: tuple[str, ...]) -> None:
        module = ModuleType(name)
        for function in functions:

            def call(*args: Any, function: str = function, **named: Any) -> None:
                made.append((function, args, named))

            setattr(module, function, call)
        monkeypatch.setitem(sys.modules, name, module)

    double("mlflow", ("set_experiment", "start_run", "log_params", "log_metrics", "log_artifact", "end_run"))
    for name in ("wandb", "trackio"):
        double(name, ("init", "log", "log_artifact", "finish"))
        monkeypatch.delenv(f"{name.upper()}_PROJECT", raising=False)
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)
    return made


@pytest.fixture
def spec(tiny_folder: Path, tmp_path: Path) -> TrainLoraSpec:
    session = tmp_path / "s.json"
    steps = [user("Fix the SECRET-WORD."), agent("Fixed."), user("Why?"), agent("It broke.")]
    session.write_text(json.dumps(session_json(steps, session_id="s")))
    data = spec_of([session], base_model=str(tiny_folder), epochs=3).model_dump()
    return TrainLoraSpec.model_validate(data | tiny_job(tmp_path))


def trained(tracker: str | None, spec: TrainLoraSpec) -> list[dict[str, Any]]:
    """The job's events, as its worker sends them."""
    events: list[dict[str, Any]] = []
    job = TrainLora(type="train_lora", job_id="0" * 26, spec=spec)
    Worker(device="cpu", threads=1, tracker=tracker).run(job, emit=events.append, cancelled=lambda: False)
    return events


@pytest.mark.parametrize("tracker", ["wandb", "trackio"])
def test_each_step_and_the_proof_are_told_as_they_come_and_the_card_is_kept(
    tracker: str, spec: TrainLoraSpec, calls: Calls
) -> None:
    steps = [event["progress"] for event in trained(tracker, spec) if event["type"] == "progress"]
    names = [name for name, _, _ in calls]
    assert names == ["init", *["log"] * (len(steps) + 1), "log_artifact", "finish"]
    begun = calls[0][2]
    assert (begun["project"], begun["name"]) == ("imprint", spec.adapter_id)
    assert begun["config"]["rank"] == spec.rank
    told = [(args[0], named["step"]) for name, args, named in calls if name == "log"]
    assert [numbers["loss"] for numbers, _ in told[:-1]] == [step["loss"] for step in steps]
    assert [step for _, step in told] == [*(step["step"] for step in steps), len(steps)]
    assert told[-1][0]["loss_after"] < told[-1][0]["loss_before"]
    ((card,), named) = calls[-2][1:]
    assert "Rank" in Path(card).read_text()
    assert named == {"name": f"{spec.adapter_id}-card", "type": "card"}
    assert "SECRET-WORD" not in repr(calls)


def test_mlflow_is_told_the_same_and_how_it_ended(spec: TrainLoraSpec, calls: Calls) -> None:
    steps = [event["progress"] for event in trained("mlflow", spec) if event["type"] == "progress"]
    assert [name for name, _, _ in calls] == [
        "set_experiment",
        "start_run",
        "log_params",
        *["log_metrics"] * (len(steps) + 1),
        "log_artifact",
        "end_run",
    ]
    assert calls[-1][1] == ("FINISHED",)


def test_a_training_that_fails_ends_its_run_as_failed_and_leaves_no_card(spec: TrainLoraSpec, calls: Calls) -> None:
    with pytest.raises(ZeroDivisionError), tracked("mlflow", spec, lambda _: None) as (heard, _):
        heard({"type": "progress", "progress": {"step": 1, "loss": 2.0, "held_out_loss": None}})
        raise ZeroDivisionError
    assert calls[-2:] == [("log_metrics", ({"loss": 2.0},), {"step": 1}), ("end_run", ("FAILED",), {})]


def test_a_tracker_that_fails_or_hangs_neither_fails_nor_delays_a_training(
    spec: TrainLoraSpec, calls: Calls, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuses(*_: object, **__: object) -> None:
        raise ConnectionError("the server is away")

    monkeypatch.setattr(sys.modules["wandb"], "init", refuses)
    assert trained("wandb", spec)[-1]["type"] != "failed"
    assert "wandb hears no more of this training: ConnectionError: the server is away" in capsys.readouterr().err

    never = threading.Event()
    monkeypatch.setattr(tracking, "LAST_SECONDS", 0.01)
    monkeypatch.setattr(sys.modules["wandb"], "init", lambda **_: never.wait())
    with tracked("wandb", spec, lambda _: None) as (heard, _):
        heard({"type": "progress", "progress": {"step": 1, "loss": 2.0}})
    never.set()
    assert "wandb has not taken all of this training in 0.01 s" in capsys.readouterr().err


def test_without_a_tracker_nothing_is_told(spec: TrainLoraSpec, calls: Calls) -> None:
    with tracked(None, spec, lambda _: None):
        pass
    assert calls == []
