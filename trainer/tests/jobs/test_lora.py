"""What a LoRA job does before it trains."""

import json
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch

from data.sessions import agent, session_json, user
from data.test_shared import spec_of
from imprint_trainer.errors import NothingToTrain
from imprint_trainer.jobs.context import JobContext
from imprint_trainer.jobs.lora import train_lora
from imprint_trainer.lora.memory import PeakMemory
from imprint_trainer.models.tokenizer import tokenizer_of
from imprint_trainer.protocol import TrainLoraSpec

from .tiny import tiny_job

MEMORY = PeakMemory(torch.device("cpu"))


class BaseLoadedError(Exception):
    pass


def loads(*_: object) -> NoReturn:
    raise BaseLoadedError


@pytest.mark.parametrize(
    ("steps", "outcome"),
    [([user("Hello?")], NothingToTrain), ([user("Fix it."), agent("Fixed.")], BaseLoadedError)],
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
