import json
from pathlib import Path

import pytest

from imprint_trainer.imprint.cli import main
from imprint_trainer.imprint.config import ClosedFormConfig
from imprint_trainer.imprint.folder import read_config


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    (folder / "deep").mkdir(parents=True)
    (folder / "manual.md").write_text("The agent reads the file and runs the tests. " * 60, encoding="utf-8")
    (folder / "deep" / "code.py").write_text("def parse_price(text): return text\n" * 80, encoding="utf-8")
    (folder / "binary.md").write_bytes(b"\xff\xfe" * 900)
    (folder / "picture.png").write_bytes(b"\x89PNG" * 900)
    return folder


def test_a_base_model_and_ordinary_text_make_one_that_is_listed_with_its_kind(
    tiny_folder: Path, texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "hypernetworks" / "mine"
    args = ["measure", "--base", str(tiny_folder), "--base-name", "tiny", "--texts", str(texts), "--out", str(out)]
    assert main([*args, "--quantization", "none", "--device", "cpu", "--tokens", "500", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["path"] == str(out)
    assert made["tokens"] > 300
    config = read_config(out)
    assert isinstance(config, ClosedFormConfig)
    assert "reads the file" not in (out / "README.md").read_text()
    assert f"{made['tokens']:,} tokens of ordinary text, drawn from 3 files" in (out / "README.md").read_text()
    main(["list", "--dir", str(out.parent)])
    assert (
        json.loads(capsys.readouterr().out).items() >= {"kind": "ridge", "base_model": "tiny", "problem": None}.items()
    )


def test_places_without_text_are_refused_with_exit_code_2(
    tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    args = ["measure", "--base", str(tiny_folder), "--texts", str(tmp_path / "empty"), "--out", str(tmp_path / "out")]
    assert main(args) == 2
    assert "--texts: no text file in empty" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_listing_an_empty_place_lists_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--dir", str(tmp_path)]) == 0
    assert capsys.readouterr().out == ""
