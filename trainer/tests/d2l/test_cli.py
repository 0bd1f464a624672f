import json
from pathlib import Path

import pytest

from imprint_trainer.doc_to_lora.cli import main

from .pickles import CHECKPOINT


def test_convert_writes_and_list_names_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "hypernetworks" / "tiny"
    assert main(["convert", str(CHECKPOINT), "--base", "base", "--out", str(out)]) == 0
    assert json.loads(capsys.readouterr().out)["config"]["base_model_name_or_path"] == "base"
    assert main(["list", "--dir", str(out.parent)]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert (listed["name"], listed["base_model"], listed["problem"]) == ("tiny", "base", None)


def test_a_refusal_is_a_sentence_and_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", str(CHECKPOINT), "--base", "other", "--out", str(tmp_path / "out")]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("HYPERNETWORK_INVALID: The checkpoint was trained for base, not for other.\n")
    assert not (tmp_path / "out").exists()


def test_listing_an_empty_place_lists_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--dir", str(tmp_path)]) == 0
    assert capsys.readouterr().out == ""
