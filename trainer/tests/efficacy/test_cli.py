import json
from pathlib import Path

import pytest

from data.sessions import agent, session_json, user
from imprint_trainer.efficacy import cli
from imprint_trainer.lora.config import LoraTraining

WORDS = ["wharf", "quay", "mooring", "bollard", "fender", "hawser", "capstan", "berth", "jetty", "slipway"]


def written(folder: Path, name: str, number: int) -> Path:
    """Sessions that answer other questions in the same words."""
    steps = [s for word in WORDS for s in (user(f"Where is {word} {number}?"), agent(f"Behind the {word}. " * 12))]
    path = folder / name / f"{number:02}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(session_json(steps, session_id=f"{name}-{number}")), encoding="utf-8")
    return path.parent


@pytest.fixture
def groups(tmp_path: Path) -> list[str]:
    return [str(written(tmp_path, name, number)) for name in ("harbour", "yard") for number in range(3)][::3]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tiny model knows nothing: it learns from a higher rate."""
    monkeypatch.setitem(cli.SETTINGS, "learn", LoraTraining(seed=7, epochs=2, learning_rate=0.02))


def test_training_on_the_sessions_before_helps_on_the_next_one(
    tiny_folder: Path, groups: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "results.jsonl"
    asked = ["--base", str(tiny_folder), "--out", str(out), "--sessions", "1", "2", "--settings", "context", "learn"]
    asked += ["--groups", groups[0], "--unrelated", groups[1], "--tested-windows", "2", "--trained-windows", "2"]
    assert cli.main([*asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(row["settings"], row["sessions"]) for row in told["rows"]] == [("context", 1), ("learn", 1), ("learn", 2)]
    learned = [case for case in told["cases"] if case["settings"] == "learn"]
    assert all(case["change"] < -0.02 and set(case["unrelated"]) == {"yard"} for case in learned)

    lines = out.read_text(encoding="utf-8")
    assert cli.main(asked) == 0  # what is measured stays
    assert out.read_text(encoding="utf-8") == lines


def test_a_folder_that_is_not_there_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--base", str(tmp_path), "--out", str(tmp_path / "out"), "--groups", str(tmp_path / "none")]
    assert cli.main(options) == 2
    assert "There is no folder" in capsys.readouterr().err
