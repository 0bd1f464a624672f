import json
from pathlib import Path

import pytest

from imprint_trainer.doc_to_lora.cli import main
from imprint_trainer.doc_to_lora.evaluation import command, question_cases, second_cases

SMALL = ["--quantization", "none", "--device", "cpu", "--threads", "1", "--facts", "1", "--seeds", "1"]
SMALL += ["--questions", "2", "--limit-sessions", "2", "--json"]


@pytest.fixture
def arguments(tiny_folder: Path, installed: Path, groups: Path, tmp_path: Path) -> list[str]:
    places = {"--base": tiny_folder, "--hypernetwork": installed, "--groups": groups, "--out": tmp_path / "out.jsonl"}
    return ["evaluate", *SMALL, *(str(word) for pair in places.items() for word in pair)]


@pytest.mark.usefixtures("_short_seconds")
def test_an_evaluation_that_is_cut_goes_on_and_gives_the_same_rows(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [*arguments, "--rows", "sessions", "facts", "questions"]
    assert main(asked) == 0
    told = capsys.readouterr()
    whole = (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    assert "session harbour 01 1" in told.err
    (tmp_path / "out.jsonl").write_text(whole[: len(whole) // 2], encoding="utf-8")
    assert main(asked) == 0
    again = capsys.readouterr()
    assert (tmp_path / "out.jsonl").read_text(encoding="utf-8") == whole
    assert again.out == told.out
    assert 0 < len(again.err.splitlines()) < len(told.err.splitlines())
    assert json.loads(told.out)["set"] == "dev"


@pytest.fixture
def _short_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_cases, "TOKENS", (512,))
    monkeypatch.setattr(question_cases, "BATCH", 2)


def test_results_of_another_set_are_not_added_to(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--rows", "facts"]) == 0
    held = (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    assert main([*arguments, "--rows", "facts", "--set", "test"]) == 2
    assert "name another file" in capsys.readouterr().err
    assert (tmp_path / "out.jsonl").read_text(encoding="utf-8") == held


def test_a_folder_without_sessions_is_refused(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--groups", str(tmp_path / "none")]) == 2
    assert "--groups: none holds no folder of canonical sessions" in capsys.readouterr().err


@pytest.mark.usefixtures("_short_seconds")
def test_a_request_is_timed_up_to_its_proved_adapter(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(second_cases, "TIMES", 1)
    assert main([*arguments, "--rows", "seconds"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["row"] == "seconds to a proved adapter, 512 tokens"
    assert row["value"] > 0
    assert command.USUAL_ROWS[-1] == "seconds"
