import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import get_peft_model_state_dict

from imprint_trainer.data.windows import Window
from imprint_trainer.errors import AdapterInvalid, DiskFull, machine_failures
from imprint_trainer.files import write_json
from imprint_trainer.lora.adapter import Payload, adapter_config
from imprint_trainer.lora.loss import mean_loss
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.load import load_base
from imprint_trainer.publish.peft_format import (
    OutputNotEmptyError,
    attached,
    claim_folder,
    empty_folder,
    llama_cpp_accepts,
    read_adapter_config,
    vllm_accepts,
    write_weights,
)
from training import saved, settings, train_tiny

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


def spoil(folder: Path, changes: dict[str, Any]) -> None:
    path = folder / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"auto_mapping": {"parent_library": "evil", "base_model_class": "X"}},
        {"megatron_core": "evil"},
        {"megatron_config": {"a": 1}},
        {"tokenizer_kwargs": {"trust_remote_code": True}},
        {"peft_type": "PROMPT_TUNING"},
        {"modules_to_save": ["lm_head"]},
        {"use_dora": True},
        {"bias": "all"},
        {"r": 10**9},
        {"target_modules": "(a+)+$"},
        {"target_modules": []},
        {"init_lora_weights": "gaussian"},
    ],
)
def test_a_configuration_that_could_run_code_or_is_no_plain_lora_is_refused(
    base: LoadedBase, windows: list[Window], tmp_path: Path, changes: dict[str, Any]
) -> None:
    _, payload = train_tiny(base, windows, settings(epochs=1))
    folder = saved(tmp_path / "adapter", payload)
    spoil(folder, changes)
    with pytest.raises(AdapterInvalid, match=f"adapter_config.json: {next(iter(changes))}"):
        read_adapter_config(folder)


def test_what_stock_peft_saves_is_read(base: LoadedBase, windows: list[Window], tmp_path: Path) -> None:
    losses = []

    def save(model: Any) -> None:
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.data.fill_(0.01)
        model.save_pretrained(tmp_path / "stock")
        losses.append(mean_loss(model, windows, base.device))

    train_tiny(base, windows, settings(epochs=1), on_model=save)
    with attached(base, tmp_path / "stock") as model:
        assert mean_loss(model, windows, base.device) == losses[0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_factors_come_back_to_the_bit_above_weights_of_any_format(
    base: LoadedBase, windows: list[Window], tiny_folder: Path, tmp_path: Path, dtype: torch.dtype
) -> None:
    _, payload = train_tiny(base, windows, settings(epochs=1))
    folder = saved(tmp_path / "adapter", payload)
    with attached(load_base(str(tiny_folder), quantization="none", device="cpu", dtype=dtype), folder) as model:
        loaded = get_peft_model_state_dict(model, save_embedding_layers=False)
    assert loaded.keys() == payload.tensors.keys()
    assert all(torch.equal(tensor, payload.tensors[key]) for key, tensor in loaded.items())


@pytest.mark.parametrize("name", ["adapter_config.json", "adapter_model.safetensors"])
def test_a_missing_file_is_named(base: LoadedBase, windows: list[Window], tmp_path: Path, name: str) -> None:
    _, payload = train_tiny(base, windows, settings(epochs=1))
    folder = saved(tmp_path / "adapter", payload)
    (folder / name).unlink()
    with pytest.raises(AdapterInvalid, match=name):
        read_adapter_config(folder)


KEY = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"


def made(rank: int = 16, key: str = KEY, **changes: Any) -> Payload:
    config = adapter_config(rank=rank, alpha=32.0, targets=["q_proj"], base_model_name="tiny") | changes
    return Payload({key: torch.ones(rank, 8)}, config)


def test_a_plain_adapter_is_accepted_without_remarks() -> None:
    assert vllm_accepts(made()) == llama_cpp_accepts(made())
    assert vllm_accepts(made()).accepted
    assert vllm_accepts(made()).remarks == ()


@pytest.mark.parametrize(("rank", "flag"), [(17, 32), (64, 64), (300, 320), (512, 512)])
def test_a_larger_rank_is_accepted_with_the_flag_that_vllm_needs(rank: int, flag: int) -> None:
    acceptance = vllm_accepts(made(rank))
    assert acceptance.accepted
    assert f"--max-lora-rank {flag}:" in acceptance.remarks[0]


@pytest.mark.parametrize(
    "changes",
    [{"rank": 513}, {"modules_to_save": ["lm_head"]}, {"bias": "all"}, {"use_dora": True}, {"target_modules": None}],
)
def test_vllm_refuses_what_its_loader_refuses(changes: dict[str, Any]) -> None:
    acceptance = vllm_accepts(made(**changes))
    assert not acceptance.accepted
    assert len(acceptance.remarks) == 1


def test_tensors_of_other_kinds_are_refused_by_both() -> None:
    odd = made(key="base_model.model.model.embed_tokens.lora_embedding_A")
    for acceptance in (vllm_accepts(odd), llama_cpp_accepts(odd)):
        assert not acceptance.accepted
        assert "lora_embedding_A" in acceptance.remarks[0]


@pytest.mark.parametrize("changes", [{"use_dora": True}, {"use_rslora": True}, {"lora_alpha": None}])
def test_llama_cpp_refuses_what_its_converter_refuses(changes: dict[str, Any]) -> None:
    acceptance = llama_cpp_accepts(made(**changes))
    assert not acceptance.accepted
    assert len(acceptance.remarks) == 1


def test_a_configuration_that_says_nothing_of_bias_has_none() -> None:
    payload = made()
    assert vllm_accepts(Payload(payload.tensors, {k: v for k, v in payload.config.items() if k != "bias"})).accepted
