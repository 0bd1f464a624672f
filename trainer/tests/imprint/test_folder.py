import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from imprint_trainer.errors import HypernetworkInvalid, HypernetworkNotInstalled
from imprint_trainer.imprint.folder import CONFIG_FILE, WEIGHTS_FILE, find, list_installed, load, read_config, save
from imprint_trainer.imprint.solve import ClosedForm

CPU = torch.device("cpu")
SOURCES = Path(__file__).parents[2] / "src"


@pytest.fixture
def saved(closed_form: ClosedForm, tmp_path: Path) -> Path:
    save(closed_form.config, closed_form.statistics.tensors(), tmp_path / "mine")
    return tmp_path / "mine"


def change(folder: Path, **fields: object) -> None:
    file = folder / CONFIG_FILE
    file.write_text(json.dumps(json.loads(file.read_text()) | fields))


def test_it_comes_back_from_its_folder(closed_form: ClosedForm, saved: Path) -> None:
    found = load(saved, CPU)
    assert isinstance(found, ClosedForm)
    assert found.config == closed_form.config
    torch.testing.assert_close(found.statistics.inputs(0), closed_form.statistics.inputs(0))


@pytest.mark.parametrize("value", [64, None, "many"])
def test_a_setting_that_had_a_meaning_once_is_read_without_effect(
    closed_form: ClosedForm, saved: Path, value: object
) -> None:
    change(saved, least_supervised=value)
    found = read_config(saved)
    assert found.model_dump() == closed_form.config.model_dump()
    assert "least_supervised" not in found.model_dump_json()


@pytest.mark.parametrize(
    ("content", "says"), [('{"kind": "ridge"}', "Field required"), ("[1]", "valid dictionary"), ("{", "not JSON")]
)
def test_a_bad_configuration_is_refused(saved: Path, content: str, says: str) -> None:
    (saved / CONFIG_FILE).write_text(content)
    with pytest.raises(HypernetworkInvalid, match=says):
        read_config(saved)


def test_unknown_settings_are_refused_by_name(saved: Path) -> None:
    change(saved, dampening=1)
    with pytest.raises(HypernetworkInvalid, match="dampening"):
        read_config(saved)


def test_a_kind_of_another_time_is_refused(saved: Path) -> None:
    change(saved, kind="rigid")
    with pytest.raises(HypernetworkInvalid, match="kind: Input should be 'ridge'"):
        read_config(saved)


def test_the_first_folder_that_fits_the_base_is_found(closed_form: ClosedForm, tmp_path: Path) -> None:
    own, shipped = tmp_path / "own", tmp_path / "shipped"
    tensors = closed_form.statistics.tensors()
    for folder in (own / "a-broken", own / "b-other", own / "d-late", own / "c-first", shipped / "a"):
        save(closed_form.config, tensors, folder)
    (own / "a-broken" / WEIGHTS_FILE).unlink()
    change(own / "b-other", base_model_name_or_path="other")
    assert find([tmp_path / "absent", own, shipped], "tiny") == own / "c-first"
    assert find([shipped, own], "tiny") == shipped / "a"
    with pytest.raises(
        HypernetworkNotInstalled, match="No hypernetwork for a/none is installed in own or shipped: "
    ) as refused:
        find([own, shipped], "a/none")
    assert "imprint hypernetworks measure --base a/none --name none --texts FOLDER" in refused.value.message


def test_the_list_names_what_is_there_and_what_is_wrong(closed_form: ClosedForm, tmp_path: Path) -> None:
    assert list_installed(tmp_path / "nowhere") == []
    for name in ("good", "bad", "empty"):
        save(closed_form.config, closed_form.statistics.tensors(), tmp_path / name)
    (tmp_path / "bad" / CONFIG_FILE).write_text("{")
    (tmp_path / "empty" / WEIGHTS_FILE).unlink()
    (tmp_path / "other").mkdir()
    bad, empty, good = list_installed(tmp_path)
    assert (good.name, good.base_model, good.problem, good.kind) == ("good", "tiny", None, "ridge")
    assert good.size == (tmp_path / "good" / WEIGHTS_FILE).stat().st_size
    assert (bad.name, bad.base_model, bad.kind, "JSON" in str(bad.problem)) == ("bad", None, None, True)
    assert (empty.name, "missing" in str(empty.problem)) == ("empty", True)


def test_saving_again_replaces_the_earlier_one(closed_form: ClosedForm, saved: Path) -> None:
    tensors = closed_form.statistics.tensors()
    save(closed_form.config, tensors | {"errors": 2 * tensors["errors"]}, saved)
    again = load(saved, CPU)
    assert isinstance(again, ClosedForm)
    assert torch.equal(again.statistics.tensors()["errors"], 2 * tensors["errors"])
    assert [path.name for path in saved.parent.iterdir()] == ["mine"]


def test_a_failed_replacement_leaves_the_earlier_one(
    closed_form: ClosedForm, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename, before = Path.rename, (saved / WEIGHTS_FILE).read_bytes()

    def failing(path: Path, target: Path) -> Path:
        if path.name.startswith(".mine") and not path.name.endswith(".old"):
            raise OSError("no space left")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    tensors = closed_form.statistics.tensors()
    with pytest.raises(OSError, match="no space"):
        save(closed_form.config, tensors | {"errors": 2 * tensors["errors"]}, saved)
    assert [path.name for path in saved.parent.iterdir()] == ["mine"]
    assert (saved / WEIGHTS_FILE).read_bytes() == before


def test_a_folder_with_something_else_is_not_touched(closed_form: ClosedForm, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(HypernetworkInvalid, match="holds no hypernetwork"):
        save(closed_form.config, closed_form.statistics.tensors(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("length", [0, 4, 500, -1])
def test_truncated_weights_are_refused(saved: Path, length: int) -> None:
    weights = saved / WEIGHTS_FILE
    weights.write_bytes(weights.read_bytes()[:length])
    with pytest.raises(HypernetworkInvalid, match="truncated"):
        load(saved, CPU)


def test_a_folder_without_a_hypernetwork_is_not_installed(tmp_path: Path) -> None:
    with pytest.raises(HypernetworkNotInstalled):
        load(tmp_path / "nowhere", CPU)


@pytest.mark.parametrize(("content", "loaded"), [(None, False), ("{}", True)])
def test_doc_to_lora_is_loaded_only_for_a_folder_of_its_own(saved: Path, content: str | None, loaded: bool) -> None:
    if content is not None:
        (saved / CONFIG_FILE).write_text(content)
    code = (
        "import sys, pathlib; from imprint_trainer.imprint.folder import list_installed\n"
        f"list_installed(pathlib.Path({str(saved.parent)!r}))\n"
        "print('doc_to_lora' in sys.modules)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(SOURCES)}, capture_output=True, text=True, check=True
    )
    assert ended.stdout.strip() == str(loaded)
