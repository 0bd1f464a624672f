"""What a LoRA job does before it trains."""

import json
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch

from data.sessions import agent, session_json, user
from data.test_select import spec_of
from imprint_trainer.errors import Cancelled, NothingToTrain
from imprint_trainer.jobs import lora
from imprint_trainer.jobs.context import JobContext
from imprint_trainer.jobs.lora import train_lora
from imprint_trainer.jobs.worker import Worker
from imprint_trainer.models import load
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.locate import tokenizer_of
from imprint_trainer.models.memory import PeakMemory
from imprint_trainer.protocol import TrainLoraSpec
from jobs.tiny import tiny_job

MEMORY = PeakMemory(torch.device("cpu"))


class BaseLoadedError(Exception):
    pass


def loads(*_: object, **__: object) -> NoReturn:
    raise BaseLoadedError


@pytest.mark.parametrize(
    ("steps", "outcome"), [([user("Hello?")], NothingToTrain), ([user("Fix it."), agent("Fixed.")], BaseLoadedError)]
)
def test_the_base_is_loaded_only_when_a_session_can_be_trained(
    steps: list[dict[str, Any]], outcome: type[Exception], tiny_folder: Path, tmp_path: Path
) -> None:
    paths = [tmp_path / f"s{number}.json" for number in range(2)]
    for path in paths:
        path.write_text(json.dumps(session_json(steps, session_id=path.stem)))
    data = spec_of(paths, base_model=str(tiny_folder)).model_dump()
    phases: list[str] = []
    context = JobContext(lambda event: phases.append(event["phase"]), lambda: False, loads, tokenizer_of, MEMORY)
    with pytest.raises(outcome):
        train_lora(TrainLoraSpec.model_validate(data | tiny_job(tmp_path)), context)
    assert phases == ["preparing_data", *(["loading_model"] if outcome is BaseLoadedError else [])]


def test_a_resumed_training_keeps_its_windows_where_others_would_fit_by_now(
    base: LoadedBase, tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = tmp_path / "s.json"
    session.write_text(json.dumps(session_json([user("Fix it."), agent("Fixed."), user("Why?"), agent("It broke.")])))
    data = spec_of([session], base_model=str(tiny_folder), max_length=None, epochs=3).model_dump()

    def until_the_first_step(start: str, fits: int) -> list[dict[str, Any]]:
        monkeypatch.setattr(lora, "window_limit", lambda *_: fits)
        events: list[dict[str, Any]] = []
        context = JobContext(
            events.append,
            lambda: any(event["type"] == "progress" for event in events),
            lambda *_, **__: base,
            tokenizer_of,
            MEMORY,
        )
        job = tiny_job(tmp_path)
        job["checkpoint"]["start"] = start
        with pytest.raises(Cancelled):
            train_lora(TrainLoraSpec.model_validate(data | job), context)
        return events

    events = [*until_the_first_step("fresh", 512), *until_the_first_step("resume", 256)]
    assert [event["plan"]["max_length"] for event in events if event["type"] == "plan"] == [512, 512]
    assert [event["progress"]["step"] for event in events if event["type"] == "progress"] == [1, 2]


@pytest.mark.parametrize("fitted", [True, False])
def test_a_resumed_training_holds_its_base_as_before_where_other_memory_is_free_by_now(
    fitted: bool, tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = tmp_path / "s.json"
    session.write_text(json.dumps(session_json([user("Fix it."), agent("Fixed.")])))
    data = spec_of([session], base_model=str(tiny_folder), epochs=3).model_dump()

    def until_the_first_step(start: str, free: int) -> int:
        monkeypatch.setattr(load, "available_bytes", lambda: free)
        steps: list[int] = []

        def hear(event: dict[str, Any]) -> None:
            if event["type"] == "progress":
                steps.append(event["progress"]["step"])

        worker = Worker(device="cpu", threads=None)
        context = JobContext(hear, lambda: bool(steps), worker.base, tokenizer_of, MEMORY)
        job = tiny_job(tmp_path)
        job["checkpoint"]["start"] = start
        with pytest.raises(Cancelled):
            train_lora(TrainLoraSpec.model_validate(data | job | {"quantization": "nf4"}), context)
        return steps[0]

    enough, little = 2**40, 0
    assert until_the_first_step("fresh", enough if fitted else little) == 1
    assert until_the_first_step("resume", little if fitted else enough) == 2
