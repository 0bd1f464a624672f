import json
from pathlib import Path

import pytest

from imprint_trainer.doc_to_lora.checkpoint.store import load
from imprint_trainer.doc_to_lora.cli import main

from .small import RETENTION, SHAPE


def train(base: Path, out: Path, *more: str) -> int:
    settings = out.parent / "settings.json"
    settings.write_text(json.dumps({"shape": SHAPE, "retention": RETENTION, "top_k": 8}), encoding="utf-8")
    arguments = ["train", "--base", str(base), "--base-name", "tiny/base-instruct", "--out", str(out)]
    arguments += ["--quantization", "none", "--device", "cpu", "--threads", "1", "--documents", "2"]
    return main([*arguments, "--config", str(settings), *more])


def test_a_training_leaves_a_hypernetwork_that_is_listed_and_evaluated(
    tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert train(tiny_folder, out, "--steps", "3", "--json") == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    made = [event["event"] for event in events]
    assert made[made.index("start") :] == ["start", "step", "step", "step", "saved"]
    assert set(made[: made.index("start")]) == {"retention"}
    assert [event["step"] for event in events if event["event"] == "step"] == [1, 2, 3]
    folder = out / "hypernetwork"
    assert load(folder).config.base_model_name_or_path == "tiny/base-instruct"
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "Trained by Imprint on 6 documents (seed 0)." in card
    assert "--steps 3 --seed 0" in card
    assert str(tmp_path) not in card

    assert main(["list", "--dir", str(out)]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert (listed["name"], listed["problem"]) == ("hypernetwork", None)

    asked = ["evaluate", "--base", str(tiny_folder), "--hypernetwork", str(folder), "--quantization", "none"]
    assert main([*asked, "--rows", "facts", "--facts", "1", "--seeds", "1", "--threads", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["hypernetwork"] == "hypernetwork"
    assert "own fact at another entity's question" in [row["row"] for row in told["rows"]]


def test_the_same_command_goes_on_after_its_time_is_up(
    tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nf4 = ("--quantization", "nf4")  # as the service loads it
    assert train(tiny_folder, tmp_path / "run", "--steps", "3", "--max-minutes", "0.000001", *nf4) == 0
    assert "It was stopped after 0 of 3 steps." in (tmp_path / "run/hypernetwork/README.md").read_text("utf-8")
    assert train(tiny_folder, tmp_path / "run", "--steps", "3", *nf4) == 0
    assert "saved  path" in capsys.readouterr().out
    assert "stopped" not in (tmp_path / "run/hypernetwork/README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--data", "absent.jsonl"], "--data: absent.jsonl cannot be read"),
        (["--max-minutes", "0"], "--max-minutes must be more than 0."),
        (["--max-minutes", "nan"], "--max-minutes must be more than 0."),
        (["--distillation-weight", "2"], "Settings: distillation_weight: "),
        (["--seed", "-1"], "Settings: seed: "),
        (["--init", "absent"], "HYPERNETWORK_NOT_INSTALLED: "),
    ],
)
def test_a_refusal_is_a_sentence_and_exit_code_2(
    tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert train(tiny_folder, tmp_path / "run", *arguments) == 2
    assert capsys.readouterr().err.startswith(sentence)
    assert not (tmp_path / "run").exists()


def test_an_output_that_is_a_file_is_refused(
    tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run").write_text("taken", encoding="utf-8")
    assert train(tiny_folder, tmp_path / "run", "--steps", "1") == 2
    assert capsys.readouterr().err.endswith("run: File exists. Choose another path.\n")
    assert (tmp_path / "run").read_text("utf-8") == "taken"


def test_a_base_that_is_missing_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(tmp_path / "absent", tmp_path / "run", "--steps", "1") == 2
    assert capsys.readouterr().err.startswith("BASE_MODEL_NOT_FOUND: ")


def test_unknown_settings_are_refused(tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('{"lerning_rate": 1}', encoding="utf-8")
    assert train(tiny_folder, tmp_path / "run", "--config", str(bad)) == 2
    assert "Settings: lerning_rate: " in capsys.readouterr().err
