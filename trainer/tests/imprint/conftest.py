from collections.abc import Sequence
from typing import Any

import pytest
import torch

from imprint.tiny import tiny_model
from imprint_trainer.data.windows import Window
from imprint_trainer.imprint.cli import config_for
from imprint_trainer.imprint.config import ClosedFormConfig
from imprint_trainer.imprint.solve import ClosedForm
from imprint_trainer.imprint.statistics import measure

VOCABULARY = 300


def random_window(seed: int, tokens: int = 40) -> Window:
    """Every second token of the later half is supervised."""
    ids = torch.randint(1, VOCABULARY, (tokens,), generator=torch.Generator().manual_seed(seed)).tolist()
    return Window(tuple(ids), tuple(index > tokens // 2 and index % 2 == 0 for index in range(tokens)))


def random_pieces(count: int = 60, tokens: int = 40) -> Sequence[list[int]]:
    return [list(random_window(1000 + seed, tokens).input_ids) for seed in range(count)]


@pytest.fixture(scope="session")
def model() -> Any:
    return tiny_model(layers=6)


@pytest.fixture(scope="session")
def config(model: Any) -> ClosedFormConfig:
    return config_for(model, "tiny").model_copy(update={"ridge": 10.0, "rank": 16})


@pytest.fixture(scope="session")
def closed_form(model: Any, config: ClosedFormConfig) -> ClosedForm:
    return ClosedForm(config, measure(model, config, random_pieces())[0])
