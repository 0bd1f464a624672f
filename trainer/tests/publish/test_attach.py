import json
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import get_peft_model_state_dict

from imprint_trainer.data.windows import Window
from imprint_trainer.errors import AdapterInvalid
from imprint_trainer.lora.loss import mean_loss
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.load import load_base
from imprint_trainer.publish.peft_format import attached, read_adapter_config
from training import saved, settings, train_tiny


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
