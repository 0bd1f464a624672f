import errno
import os
from pathlib import Path

import pytest
import torch

from imprint_trainer.errors import DiskFull, machine_failures
from imprint_trainer.files import write_json
from imprint_trainer.lora.adapter import Payload, adapter_config
from imprint_trainer.publish.peft_format import OutputNotEmptyError, claim_folder, empty_folder, write_weights

KEYS = [f"base_model.model.layers.0.{layer}.lora_{side}.weight" for layer in "ba" for side in "BA"]


def payload(order: list[str]) -> Payload:
    return Payload(
        {key: torch.full((2, 2), float(KEYS.index(key))) for key in order},
        adapter_config(rank=2, alpha=4, targets=["b", "a"], base_model_name="tiny"),
    )


def test_the_bytes_do_not_depend_on_the_order_of_tensors_or_targets(tmp_path: Path) -> None:
    for name, order in [("one", KEYS), ("two", sorted(KEYS))]:
        (tmp_path / name).mkdir()
        write_weights(tmp_path / name, payload(order))
    for name in ("adapter_model.safetensors", "adapter_config.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_full_disk_is_recognised_while_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull), machine_failures():
        write_weights(tmp_path, payload(KEYS))


def test_nan_is_never_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "proof.json", {"loss": float("nan")})
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_claimed_only_when_empty(tmp_path: Path) -> None:
    claim_folder(tmp_path / "a" / "b")
    (tmp_path / "a" / "b" / "file").touch()
    with pytest.raises(OutputNotEmptyError):
        claim_folder(tmp_path / "a" / "b")
    empty_folder(tmp_path / "a" / "b")
    claim_folder(tmp_path / "a" / "b")
