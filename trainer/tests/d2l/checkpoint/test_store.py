from pathlib import Path

import pytest
import torch

from imprint_trainer.doc_to_lora.checkpoint.store import CONFIG_FILE, WEIGHTS_FILE, find, list_installed, load, save
from imprint_trainer.errors import HypernetworkInvalid, HypernetworkNotInstalled

from ..tiny import BASE, random_tensors, tiny_config, tiny_model

CONFIG = tiny_config(tiny_model())
TENSORS = random_tensors(CONFIG)


def test_a_saved_hypernetwork_loads_with_the_same_numbers(tmp_path: Path) -> None:
    save(CONFIG, TENSORS, tmp_path / "name")
    state = load(tmp_path / "name").state_dict()
    assert all(torch.equal(state[key], tensor) for key, tensor in TENSORS.items())


def test_weights_keep_their_precision_on_disk_and_compute_in_fp32(tmp_path: Path) -> None:
    save(CONFIG, {key: tensor.bfloat16() for key, tensor in TENSORS.items()}, tmp_path / "half")
    save(CONFIG, TENSORS, tmp_path / "full")
    half, full = ((tmp_path / name / WEIGHTS_FILE).stat().st_size for name in ("half", "full"))
    assert half < 0.7 * full
    assert load(tmp_path / "half").head.weight.dtype == torch.float32


def test_saving_again_replaces_the_earlier_one(tmp_path: Path) -> None:
    save(CONFIG, random_tensors(CONFIG, seed=5), tmp_path / "name")
    save(CONFIG, TENSORS, tmp_path / "name")
    assert torch.equal(load(tmp_path / "name").head.weight, TENSORS["head.weight"])
    assert [path.name for path in tmp_path.iterdir()] == ["name"]


def test_tensors_that_share_memory_are_saved_each(tmp_path: Path) -> None:
    shared = {**TENSORS, "layers.0.layers.4.weight": TENSORS["layers.0.layers.0.weight"]}
    save(CONFIG, shared, tmp_path / "name")
    state = load(tmp_path / "name").state_dict()
    assert all(torch.equal(state[key], tensor) for key, tensor in shared.items())


def test_a_failed_replacement_leaves_the_earlier_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(CONFIG, TENSORS, tmp_path / "name")
    rename = Path.rename

    def failing(path: Path, target: Path) -> Path:
        if path.name.startswith(".name") and not path.name.endswith(".old"):
            raise OSError("no space left")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="no space"):
        save(CONFIG, random_tensors(CONFIG, seed=5), tmp_path / "name")
    assert [path.name for path in tmp_path.iterdir()] == ["name"]
    assert torch.equal(load(tmp_path / "name").head.weight, TENSORS["head.weight"])


def test_a_folder_with_something_else_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(HypernetworkInvalid, match="holds no hypernetwork"):
        save(CONFIG, TENSORS, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("{}", "Field required"),
        (CONFIG.model_dump_json().replace('"rank":2', '"rank":-2'), "rank"),
        (CONFIG.model_dump_json().replace('"rank":2', '"rank":2,"rankle":1'), "rankle"),
        (CONFIG.model_dump_json().replace('"lora_alpha":2.5', '"lora_alpha":NaN'), "lora_alpha"),
        (CONFIG.model_dump_json().replace('"rank":2', '"rank":3'), "shape"),
    ],
)
def test_a_bad_configuration_is_refused(tmp_path: Path, content: str, says: str) -> None:
    save(CONFIG, TENSORS, tmp_path / "name")
    (tmp_path / "name" / CONFIG_FILE).write_text(content)
    with pytest.raises(HypernetworkInvalid, match=says):
        load(tmp_path / "name")


@pytest.mark.parametrize("length", [0, 4, 500, 5000])
def test_truncated_weights_are_refused(tmp_path: Path, length: int) -> None:
    save(CONFIG, TENSORS, tmp_path / "name")
    weights = tmp_path / "name" / WEIGHTS_FILE
    weights.write_bytes(weights.read_bytes()[:length])
    with pytest.raises(HypernetworkInvalid, match="truncated"):
        load(tmp_path / "name")


def test_a_folder_without_a_hypernetwork_is_not_installed(tmp_path: Path) -> None:
    with pytest.raises(HypernetworkNotInstalled):
        load(tmp_path / "nowhere")


def test_the_list_names_what_is_there_and_what_is_wrong(tmp_path: Path) -> None:
    assert list_installed(tmp_path / "nowhere") == []
    save(CONFIG, TENSORS, tmp_path / "good")
    save(CONFIG, TENSORS, tmp_path / "bad")
    (tmp_path / "bad" / CONFIG_FILE).write_text("{")
    save(CONFIG, TENSORS, tmp_path / "empty")
    (tmp_path / "empty" / WEIGHTS_FILE).unlink()
    (tmp_path / "other").mkdir()
    found = {entry.name: entry for entry in list_installed(tmp_path)}
    assert list(found) == ["bad", "empty", "good"]
    assert found["good"].base_model == BASE
    assert found["good"].problem is None
    assert found["good"].size == (tmp_path / "good" / WEIGHTS_FILE).stat().st_size
    assert "JSON" in str(found["bad"].problem)
    assert "missing" in str(found["empty"].problem)


def test_a_hypernetwork_is_found_by_its_base_model(tmp_path: Path) -> None:
    save(CONFIG, TENSORS, tmp_path / "name")
    assert find([tmp_path / "absent", tmp_path], BASE) == {"perceiver": tmp_path / "name"}
    with pytest.raises(HypernetworkNotInstalled, match="other/base"):
        find([tmp_path], "other/base")
