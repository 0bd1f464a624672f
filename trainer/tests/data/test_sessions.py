"""Sessions that cannot be trained are left out by name, or refused by name."""

import json
from pathlib import Path
from typing import Any

import pytest

from data.families import tokenizer_of, tokenizer_with
from data.sessions import agent, session_json, system, user
from data.test_select import spec_of
from imprint_trainer.data.sessions import prepare_sessions
from imprint_trainer.errors import NothingToTrain, SessionInvalid, SessionUnsuccessful, TemplateUnsupported

GOOD = session_json([user("Fix it."), agent("Fixed.")])
SILENT = session_json([user("Hello?")])
LOST = session_json([user("Try."), agent("I failed.")], outcome="failure")
TORN = {"schema_version": 1}


def written(folder: Path, **sessions: dict[str, Any]) -> list[Path]:
    paths = [folder / f"{name}.json" for name in sessions]
    for path, session in zip(paths, sessions.values(), strict=True):
        path.write_text(json.dumps(session | {"session_id": path.stem} if "steps" in session else session))
    return paths


def test_sessions_that_cannot_be_trained_are_skipped_with_their_names_and_reasons(tmp_path: Path) -> None:
    paths = written(tmp_path, silent=SILENT, good=GOOD, lost=LOST, torn=TORN)
    spec = spec_of(paths, unreadable=[{"session_id": "damaged", "message": "The stored session damaged is cut off."}])
    found = prepare_sessions(spec, tokenizer_of("qwen3"))
    assert [(one.session_id, one.code) for one in found.skipped] == [
        ("damaged", "SESSION_INVALID"),
        ("silent", "NOTHING_TO_TRAIN"),
        ("lost", "SESSION_UNSUCCESSFUL"),
        ("torn", "SESSION_INVALID"),
    ]
    assert all(one.session_id in one.message for one in found.skipped)
    assert {turn.session_id for turn in found.turns} == {"good"}
    alone = prepare_sessions(spec_of(written(tmp_path, good=GOOD)), tokenizer_of("qwen3"))
    assert found.windows == alone.windows


@pytest.mark.parametrize(
    ("bad", "fault"), [(SILENT, NothingToTrain), (LOST, SessionUnsuccessful), (TORN, SessionInvalid)]
)
def test_without_skip_invalid_the_first_such_session_is_an_error_that_names_it(
    bad: dict[str, Any], fault: type[Exception], tmp_path: Path
) -> None:
    paths = written(tmp_path, good=GOOD, bad=bad, silent=SILENT)
    with pytest.raises(fault, match="bad"):
        prepare_sessions(spec_of(paths, skip_invalid=False), tokenizer_of("qwen3"))


def test_a_session_whose_head_leaves_no_room_is_skipped_by_name(tmp_path: Path) -> None:
    long = session_json([system("x" * 300), user("y" * 2000), agent("Done." * 40)])
    spec = spec_of(written(tmp_path, good=GOOD, long=long), max_length=96)
    (skipped,) = prepare_sessions(spec, tokenizer_of("llama3_1")).skipped
    assert skipped.session_id == "long"
    assert skipped.message.startswith("Session long: max_length 96 leaves no room")


def test_when_no_session_can_be_trained_the_error_names_them(tmp_path: Path) -> None:
    paths = written(tmp_path, **{f"s{number}": SILENT for number in range(7)})
    with pytest.raises(NothingToTrain, match=r"None of the 7 sessions .* s0 .* s4 .* And 2 more\.$"):
        prepare_sessions(spec_of(paths), tokenizer_of("qwen3"))


def test_one_session_that_cannot_be_trained_keeps_its_own_sentence(tmp_path: Path) -> None:
    with pytest.raises(NothingToTrain, match="^The session silent "):
        prepare_sessions(spec_of(written(tmp_path, silent=SILENT)), tokenizer_of("qwen3"))


def test_a_template_that_refuses_every_session_is_an_error_of_the_template(tmp_path: Path) -> None:
    with pytest.raises(TemplateUnsupported, match="no chat template"):
        prepare_sessions(spec_of(written(tmp_path, a=GOOD, b=LOST)), tokenizer_with(None, ()))
