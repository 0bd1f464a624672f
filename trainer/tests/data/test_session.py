import json
from pathlib import Path
from typing import Any

import pytest

from data.sessions import agent, session_json, user
from imprint_trainer.data.session import load_session
from imprint_trainer.errors import NothingToTrain, SessionInvalid


def written(folder: Path, value: Any) -> Path:
    path = folder / "s1.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def test_a_session_is_read_with_all_its_fields(tmp_path: Path) -> None:
    step = agent("Looking.", ("bash", '{"command": "ls"}', "a.py"), reasoning="hm", timestamp="2026-01-02T03:04:05Z")
    tools = [{"name": "bash", "description": "runs", "parameters": {"type": "object"}}]
    session = load_session(written(tmp_path, session_json([user("Fix it"), step], tools=tools)))
    assert session.steps[1].tool_calls[0].arguments == '{"command": "ls"}'
    assert session.steps[1].observations[0].content == "a.py"
    assert session.tools[0].parameters == {"type": "object"}


def test_a_fork_is_read_with_its_parent_and_what_it_copied(tmp_path: Path) -> None:
    copied = [user("Sort") | {"context_only": "copied"}, agent("Sorted.", context_only="copied")]
    forked = session_json([*copied, user("Drop doubles")]) | {"parent": {"session_id": "s0", "kinship": "fork"}}
    session = load_session(written(tmp_path, forked))
    assert session.parent is not None
    assert (session.parent.session_id, session.parent.kinship) == ("s0", "fork")
    assert [step.context_only for step in session.steps] == ["copied", "copied", None]


def test_a_session_is_read_with_where_it_was_recorded(tmp_path: Path) -> None:
    told = {"folder": "/srv/shop", "repository": "shop", "branch": "main", "provider": "imprint"}
    recorded = session_json([user("Fix it"), agent("Done.")])
    session = load_session(written(tmp_path, recorded | {"source": recorded["source"] | told}))
    assert session.source.model_dump(include=set(told)) == told


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"schema_version": 2}, "schema_version"),
        ({"outcome": "exhausted"}, "outcome"),
        ({"bad_lines": -1}, "bad_lines"),
        ({"bad_lines": "1"}, "bad_lines"),
        ({"surprise": 1}, "surprise"),
        ({"steps": [{"source": "robot", "text": ""}]}, "steps.0.source"),
        ({"steps": [{"source": "user", "text": 3}]}, "steps.0.text"),
        ({"tools": [{"name": ""}]}, "tools.0.name"),
    ],
)
def test_a_fault_is_named_by_its_field(tmp_path: Path, change: dict[str, Any], place: str) -> None:
    path = written(tmp_path, session_json([user("Fix it")]) | change)
    with pytest.raises(SessionInvalid, match=rf"s1\.json is invalid: {place}: "):
        load_session(path)


def test_a_missing_field_is_named(tmp_path: Path) -> None:
    value = session_json([user("Fix it")])
    del value["tools"]
    with pytest.raises(SessionInvalid, match="tools: Field required"):
        load_session(written(tmp_path, value))


@pytest.mark.parametrize("text", ["", "{", '{"schema_version": 1, "steps": [', "not json", "[]", "null", "[" * 100_000])
def test_a_torn_file_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(SessionInvalid):
        load_session(written(tmp_path, text))


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s1.json"
    path.write_bytes(json.dumps(session_json([user("Fix it")])).encode("utf-16"))
    with pytest.raises(SessionInvalid, match="cannot be read"):
        load_session(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SessionInvalid, match="cannot be read"):
        load_session(tmp_path / "s1.json")


def test_a_session_without_steps_trains_nothing(tmp_path: Path) -> None:
    with pytest.raises(NothingToTrain, match="s1 has no steps"):
        load_session(written(tmp_path, session_json([])))


def test_half_a_character_is_mended_and_a_whole_one_kept(tmp_path: Path) -> None:
    text = json.dumps(session_json([user("PLACE")])).replace("PLACE", "torn \\ud83d, whole \\ud83d\\ude00")
    assert load_session(written(tmp_path, text)).steps[0].text == "torn \ufffd, whole \U0001f600"


def test_a_session_is_immutable(tmp_path: Path) -> None:
    session = load_session(written(tmp_path, session_json([user("Fix it")])))
    with pytest.raises(ValueError, match="frozen"):
        session.outcome = "failure"  # type: ignore[misc]
