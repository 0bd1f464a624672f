"""The study of what an adapter brings to the next session: it goes on where it was, and tells what its windows say."""

import json
from pathlib import Path

import pytest

from data.sessions import agent, session_json, user
from imprint_bench import next_session
from imprint_bench.next_session import compared, main, unrelated
from imprint_trainer.data.windows import Answer, Window
from imprint_trainer.imprint.cli import main as hypernetworks

WORDS = ["wharf", "quay", "mooring", "bollard", "fender", "hawser", "capstan", "berth", "jetty", "slipway"]


def written(folder: Path, name: str, number: int) -> None:
    """Sessions that answer other questions in the same words."""
    steps = [s for word in WORDS for s in (user(f"Where is {word} {number}?"), agent(f"Behind the {word}. " * 12))]
    path = folder / name / f"{number:02}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(session_json(steps, session_id=f"{name}-{number}")), encoding="utf-8")


def test_training_on_the_session_before_helps_on_the_next_and_is_not_done_twice(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(next_session, "default_rate", lambda _, **__: 0.02)  # the tiny model knows nothing
    for name, count in (("aider-harbour", 2), ("aider-yard", 1), ("codex-lock", 1)):
        for number in range(count):
            written(tmp_path, name, number)
    results = tmp_path / "results.jsonl"
    asked = ["--base", str(tiny_folder), "--results", str(results), "--groups", str(tmp_path / "aider-harbour")]
    asked += ["--unrelated", str(tmp_path / "codex-lock"), str(tmp_path / "aider-yard")]
    assert main(asked) == 0
    told = json.loads(results.read_text(encoding="utf-8"))
    assert told["change"] < -0.02
    assert told["median"][1] < told["median"][0]
    assert list(told["unrelated"]) == ["aider-yard", "codex-lock"]
    assert len(told["neutral"]) == 4

    assert main(asked) == 0
    assert json.loads(results.read_text(encoding="utf-8")) == told


def test_an_imprint_is_tested_on_the_windows_after_those_that_it_read(tiny_folder: Path, tmp_path: Path) -> None:
    for number in range(2):
        written(tmp_path, "aider-harbour", number)
    text = tmp_path / "words.md"
    text.write_text(" ".join(WORDS) * 200, encoding="utf-8")
    made, results = tmp_path / "made", tmp_path / "results.jsonl"
    measured = ["measure", "--base", str(tiny_folder), "--texts", str(text), "--out", str(made), "--tokens", "2000"]
    assert hypernetworks(measured) == 0
    asked = ["--base", str(tiny_folder), "--results", str(results), "--groups", str(tmp_path / "aider-harbour")]
    asked += ["--imprint", str(made), "--window", "256", "--tested-windows", "2", "--sessions", "1", "99"]
    assert main(asked) == 0
    told = json.loads(results.read_text(encoding="utf-8"))  # no session has 99 windows
    assert told["read"] < 0
    assert len(told["windows"]) == 2


def test_a_group_of_too_few_sessions_is_passed_over(
    tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, "aider-yard", 0)
    results = tmp_path / "results.jsonl"
    assert main(["--base", str(tiny_folder), "--results", str(results), "--groups", str(tmp_path / "aider-yard")]) == 0
    assert "aider-yard has no 1 sessions before the newest one" in capsys.readouterr().err
    assert not results.exists()


def test_means_medians_and_turns_of_the_same_windows() -> None:
    window = Window((5,) * 5, (False, True, True, True, True), (Answer(1, 1), Answer(3, 3)))
    found = compared([window, window], [[1.0, 1.0, 2.0, 4.0]] * 2, [[1.0, 1.0, 1.0, 1.0]] * 2)
    assert (found["base"], found["loss"], found["change"]) == (2.0, 1.0, -0.5)
    assert found["median"] == [1.5, 1.0]
    assert found["median_of_turns"] == [2.0, 1.0]
    assert found["interval"] == [-0.5, -0.5]


def test_one_session_of_the_same_agent_and_one_of_another_are_tested_too() -> None:
    others = [Path("claude-a"), Path("aider-b"), Path("codex-c"), Path("codex-d")]
    assert unrelated(Path("codex-x"), others) == [Path("codex-c"), Path("claude-a")]
    assert unrelated(Path("gemini-x"), others) == [Path("claude-a"), Path("aider-b")]
    assert unrelated(Path("claude-a"), others) == [Path("aider-b"), Path("codex-c")]
