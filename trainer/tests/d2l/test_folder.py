"""Converted hypernetworks in the folders that imprint_trainer reads."""

import json
from pathlib import Path

import pytest
import torch

from doc_to_lora.generate import DocToLora
from doc_to_lora.modeling import Hypernetwork
from imprint_trainer.errors import HypernetworkInvalid
from imprint_trainer.imprint.folder import CONFIG_FILE, WEIGHTS_FILE, list_installed, save
from imprint_trainer.imprint.folder import load as load_folder

from .tiny import BASE, random_tensors, tiny_config, tiny_model

CONFIG = tiny_config(tiny_model())
TENSORS = random_tensors(CONFIG)


def load(folder: Path) -> Hypernetwork:
    found = load_folder(folder, torch.device("cpu"))
    assert isinstance(found, DocToLora)
    return found.network


def test_a_saved_hypernetwork_loads_with_the_same_numbers(tmp_path: Path) -> None:
    save(CONFIG, TENSORS, tmp_path / "name")
    state = load(tmp_path / "name").state_dict()
    assert all(torch.equal(state[key], tensor) for key, tensor in TENSORS.items())
    (listed,) = list_installed(tmp_path)
    assert (listed.base_model, listed.kind, listed.problem) == (BASE, "perceiver", None)


def test_weights_keep_their_precision_on_disk_and_compute_in_fp32(tmp_path: Path) -> None:
    save(CONFIG, {key: tensor.bfloat16() for key, tensor in TENSORS.items()}, tmp_path / "half")
    save(CONFIG, TENSORS, tmp_path / "full")
    half, full = ((tmp_path / name / WEIGHTS_FILE).stat().st_size for name in ("half", "full"))
    assert half < 0.7 * full
    assert load(tmp_path / "half").head.weight.dtype == torch.float32


def test_tensors_that_share_memory_are_saved_each(tmp_path: Path) -> None:
    shared = {**TENSORS, "layers.0.layers.4.weight": TENSORS["layers.0.layers.0.weight"]}
    save(CONFIG, shared, tmp_path / "name")
    state = load(tmp_path / "name").state_dict()
    assert all(torch.equal(state[key], tensor) for key, tensor in shared.items())


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"rank": -2}, "rank"),
        ({"rankle": 1}, "rankle"),
        ({"lora_alpha": float("nan")}, "lora_alpha"),
        ({"rank": 3}, "shape"),
        ({"normalize_features": True}, "normalize_features: Input should be False"),
        ({"chunk_scaling": "root"}, "chunk_scaling: Input should be 'sum'"),
    ],
)
def test_a_bad_configuration_is_refused(tmp_path: Path, changes: dict[str, object], says: str) -> None:
    save(CONFIG, TENSORS, tmp_path / "name")
    (tmp_path / "name" / CONFIG_FILE).write_text(json.dumps(json.loads(CONFIG.model_dump_json()) | changes))
    with pytest.raises(HypernetworkInvalid, match=says):
        load(tmp_path / "name")
