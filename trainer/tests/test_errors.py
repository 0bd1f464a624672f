import inspect
import re
from pathlib import Path

import pytest

from imprint_trainer import errors

CATALOGUE = Path(__file__).parents[2] / "packages" / "contracts" / "src" / "errors.ts"
ENTRY = re.compile(r'([A-Z_]+): \{\s*status: (?:\d+|null),\s*title: "[^"]*",\s*hint:\s*"([^"]*)",?\s*\}')

CLASSES = [error for _, error in inspect.getmembers(errors, inspect.isclass) if issubclass(error, errors.TrainerError)]


def hints() -> dict[str, str]:
    return dict(ENTRY.findall(CATALOGUE.read_text(encoding="utf-8")))


@pytest.mark.parametrize("error", CLASSES, ids=lambda error: error.code)
def test_code_and_hint_are_those_of_the_catalogue(error: type[errors.TrainerError]) -> None:
    assert error.hint == hints()[error.code]


def test_each_code_has_one_class() -> None:
    codes = [error.code for error in CLASSES]
    assert len(codes) == 24
    assert sorted(codes) == sorted(set(codes))


@pytest.mark.parametrize("error", CLASSES, ids=lambda error: error.code)
def test_the_message_is_kept_as_written(error: type[errors.TrainerError]) -> None:
    raised = error("the session has no steps")
    assert raised.message == str(raised) == "the session has no steps"


def test_a_refusal_is_also_the_standard_error_it_replaces() -> None:
    assert issubclass(errors.NothingToTrain, ValueError)
    assert issubclass(errors.BaseModelNotFound, FileNotFoundError)
    assert issubclass(errors.OutOfMemory, MemoryError)
    assert not issubclass(errors.Cancelled, errors.TrainerError)
