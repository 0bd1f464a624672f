import json
import random
from pathlib import Path
from typing import Any

import pytest

from data.sessions import session_json
from imprint_trainer.data.session import Session
from imprint_trainer.doc_to_lora.training.refusal import TrainingRefused
from imprint_trainer.doc_to_lora.training.session_questions import session_examples
from imprint_trainer.doc_to_lora.training.sources import open_source

from .small import small_config

STAGE = small_config().stages[0]
GOOD = {"document": "The port is 7413.", "question": "Which port?", "answer": "7413"}


def write(folder: Path, *lines: str) -> Path:
    file = folder / "pairs.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def recorded(**changes: Any) -> dict[str, Any]:
    steps = [
        {"source": "user", "text": "Make the tests pass.\nThey are slow."},
        {
            "source": "agent",
            "text": "I run them.",
            "tool_calls": [{"id": "c1", "name": "Bash", "arguments": json.dumps({"command": "npm test"})}],
            "observations": [{"call_id": "c1", "content": "ok\n12 passed\n", "is_error": False}],
        },
        {
            "source": "agent",
            "text": "",
            "tool_calls": [{"id": "c2", "name": "Bash", "arguments": json.dumps({"command": "make oops"})}],
            "observations": [{"call_id": "c2", "content": "no rule", "is_error": True}],
        },
    ]
    return session_json(steps, **{"outcome_signal": "tests passed", **changes})


def test_a_files_questions_are_grouped_by_document(tmp_path: Path) -> None:
    other = {**GOOD, "document": "The host is fox.", "question": "Which host?", "answer": "fox"}
    again = {**GOOD, "question": "Port?"}
    source = open_source(str(write(tmp_path, json.dumps(GOOD), json.dumps(other), "", json.dumps(again))))
    drawn = [source.draw(random.Random(seed), STAGE, ()) for seed in range(30)]
    assert {example.question for example in sum(drawn, [])} == {"Which port?", "Which host?", "Port?"}
    assert all(len({example.document for example in examples}) == 1 for examples in drawn)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "line 2: .*JSON"),
        ("[]", "line 2: .*object"),
        (json.dumps({**GOOD, "answer": ""}), "line 2: answer:"),
        (json.dumps({**GOOD, "answer": "  "}), "line 2: answer:"),
        (json.dumps({**GOOD, "question": 5}), "line 2: question:"),
        (json.dumps({"document": "d", "question": "q"}), "line 2: answer:"),
        (json.dumps({**GOOD, "extra": "x"}), "line 2: extra:"),
    ],
)
def test_a_bad_line_is_named_by_its_number(tmp_path: Path, line: str, complaint: str) -> None:
    with pytest.raises(TrainingRefused, match=complaint):
        open_source(str(write(tmp_path, json.dumps(GOOD), line)))


def test_a_file_that_is_missing_empty_or_binary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TrainingRefused, match="--data: absent.jsonl cannot be read"):
        open_source(str(tmp_path / "absent.jsonl"))
    with pytest.raises(TrainingRefused, match="holds no line"):
        open_source(str(write(tmp_path, "", " ")))
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(TrainingRefused, match="is not UTF-8"):
        open_source(str(tmp_path / "binary"))


def test_another_content_is_another_identity(tmp_path: Path) -> None:
    first = open_source(str(write(tmp_path, json.dumps(GOOD)))).identity
    second = open_source(str(write(tmp_path, json.dumps({**GOOD, "answer": "1"})))).identity
    assert first != second
    assert open_source(str(write(tmp_path, json.dumps(GOOD)))).identity == first


def test_a_session_is_asked_for_what_it_settles() -> None:
    session = Session.model_validate_json(json.dumps(recorded()))
    answers = {example.kind: example.answer for example in session_examples(session)}
    assert answers == {
        "session task": "Make the tests pass.",
        "session command": "npm test",
        "session result": "12 passed",
        "session outcome": "tests passed",
    }
    assert all(example.answer in example.document for example in session_examples(session))


def test_a_folder_of_sessions_is_a_source(tmp_path: Path) -> None:
    (tmp_path / "s1.json").write_text(json.dumps(recorded()), encoding="utf-8")
    source = open_source(str(tmp_path))
    assert source.identity.startswith("sessions sha256:")
    assert len(source.draw(random.Random(0), STAGE, ())) == 2


def test_a_folder_without_sessions_or_with_a_torn_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TrainingRefused, match="holds no canonical session"):
        open_source(str(tmp_path))
    (tmp_path / "torn.json").write_text('{"schema_version": 1', encoding="utf-8")
    with pytest.raises(TrainingRefused, match=r"torn\.json"):
        open_source(str(tmp_path))
