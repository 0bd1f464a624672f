from pathlib import Path

import pytest

from imprint_trainer.errors import BaseModelInvalid, BaseModelNotFound
from imprint_trainer.models.gguf_default import prepare_default_model


def silent(_: str) -> None:
    pass


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BaseModelNotFound, match="no.gguf"):
        prepare_default_model(tmp_path / "no.gguf", tmp_path / "out", silent)


@pytest.mark.parametrize("content", [b"", b"not a gguf at all", b"GGUF\x03\x00\x00\x00" + b"\xff" * 64])
def test_a_broken_file_leaves_nothing_behind(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.gguf").write_bytes(content)
    with pytest.raises(BaseModelInvalid, match="bad.gguf"):
        prepare_default_model(tmp_path / "bad.gguf", tmp_path / "models" / "out", silent)
    assert list((tmp_path / "models").iterdir()) == []


def test_somebody_elses_folder_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").touch()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").write_text("kept")
    with pytest.raises(BaseModelInvalid, match="choose another"):
        prepare_default_model(tmp_path / "a.gguf", tmp_path / "out", silent)
    assert (tmp_path / "out" / "precious").read_text() == "kept"


def test_a_prepared_model_is_not_prepared_again(tmp_path: Path) -> None:
    (tmp_path / "out" / "nf4").mkdir(parents=True)
    (tmp_path / "out" / "nf4" / "config.json").write_text("{}")
    said: list[str] = []
    assert prepare_default_model(tmp_path / "gone.gguf", tmp_path / "out", said.append) == tmp_path / "out"
    assert said == ["out is there already"]
