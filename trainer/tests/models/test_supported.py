"""Bases of every kind that somebody may bring: each is trained and answers, or is refused by one sentence before its
weights are read."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file, save_file
from transformers import AutoModelForImageTextToText

from imprint_trainer.data.windows import Window
from imprint_trainer.errors import BaseModelUnsupported, OutOfMemory
from imprint_trainer.models import load
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.load import load_base
from imprint_trainer.models.memory import window_limit
from imprint_trainer.models.quantize import linear4bit_layers
from imprint_trainer.publish.peft_format import attached
from tiny_model import WITH_IMAGES, write_family, write_tiny_model
from training import saved, settings, train_tiny


def change(folder: Path, **values: Any) -> Path:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))
    return folder


@pytest.mark.parametrize("family", WITH_IMAGES)
def test_of_a_base_that_reads_images_no_tower_is_loaded_and_adapters_fit_the_whole_model(
    tmp_path: Path, windows: list[Window], family: str
) -> None:
    folder = write_family(tmp_path / "base", family)
    base = load_base(str(folder), quantization="none", device="cpu")
    _, payload = train_tiny(base, windows, settings(epochs=1))
    whole = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()
    blocks = [name for name, _ in whole.named_modules() if ".blocks.1." in name or ".layers.1." in name]
    towers = {name for name in blocks if "language_model" not in name}
    assert towers and not towers & {name for name, _ in base.model.named_modules()}
    assert all(".language_model.layers." in key for key in payload.tensors)
    ids = torch.tensor([windows[0].input_ids])
    with torch.no_grad(), attached(base, saved(tmp_path / "adapter", payload)) as model:
        ours = model(input_ids=ids).logits
    theirs = PeftModel.from_pretrained(whole, tmp_path / "adapter")
    with torch.no_grad():
        torch.testing.assert_close(theirs(input_ids=ids).logits, ours, rtol=1e-4, atol=1e-4)


EXPERTS = "is a mixture of experts"
QUANTISED = r"is stored quantised \({}\): take the model in bf16 or fp16 that it was made from"


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"quantization_config": {"quant_method": "awq", "bits": 4}}, QUANTISED.format("awq")),
        ({"quantization_config": {"quant_method": "gptq", "bits": 4}}, QUANTISED.format("gptq")),
        ({"quantization_config": {"quant_method": "mxfp4"}}, QUANTISED.format("mxfp4")),
        ({"quantization_config": {"quant_method": "compressed-tensors"}}, QUANTISED.format("compressed-tensors")),
        ({"quantization_config": {"load_in_8bit": True}}, QUANTISED.format("bitsandbytes")),
        ({"text_config": {"quantization_config": {"quant_method": "awq"}}}, QUANTISED.format("awq")),
        ({"model_type": "gpt_oss", "num_local_experts": 32, "quantization_config": {"quant_method": "mxfp4"}}, EXPERTS),
        ({"model_type": "llama4", "text_config": {"num_local_experts": 16}}, EXPERTS),
        ({"model_type": "nemotron_h", "n_routed_experts": 8, "layers_block_type": ["mamba", "moe"]}, EXPERTS),
        ({"model_type": "jamba", "num_experts": 16}, EXPERTS),
        ({"model_type": "mamba"}, "is of the family mamba, which computes past its layers"),
    ],
)
def test_what_cannot_be_trained_is_refused_by_name_from_config_json_alone(
    tmp_path: Path, values: dict[str, Any], sentence: str
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(values))
    (tmp_path / "model.safetensors").write_bytes(b"never read")
    for refuse in (load_base, lambda folder: window_limit(Asked(folder), "cpu")):
        with pytest.raises(BaseModelUnsupported, match=rf"^{tmp_path.name} {sentence}"):
            refuse(str(tmp_path))  # type: ignore[operator]


class Asked:
    def __init__(self, folder: str) -> None:
        self.base_model = folder


@pytest.mark.parametrize(
    ("family", "sentence"),
    [
        ("gpt2", "is a GPT2LMHeadModel, which has no linear layers"),  # what it multiplies by is another kind of layer
        ("vit", "is a vit, of which transformers has no model that continues text"),
        ("modernbert-decoder", "is a ModernBertDecoderForCausalLM, which has no"),
    ],
)
def test_a_family_that_cannot_be_taken_is_refused_before_its_weights_are_read(
    tiny_copy: Path, family: str, sentence: str
) -> None:
    (tiny_copy / "config.json").write_text(json.dumps({"model_type": family}))
    (tiny_copy / "model.safetensors").write_bytes(b"never read")
    with pytest.raises(BaseModelUnsupported, match=f"^copy {sentence}"):
        load_base(str(tiny_copy), device="cpu")


BLOCK = 128  # rows and columns that share a scale


def write_fp8(folder: Path) -> dict[str, torch.Tensor]:
    """A base with its projections stored in FP8; the numbers that they stand for."""
    write_tiny_model(folder, hidden_size=256, intermediate_size=384)
    numbers = load_file(folder / "model.safetensors")
    stored = dict(numbers)
    for name in [name for name in numbers if name.endswith("_proj.weight")]:
        rows, columns = ([slice(at, at + BLOCK) for at in range(0, size, BLOCK)] for size in numbers[name].shape)
        scales, eights = torch.zeros(len(rows), len(columns)), torch.zeros(numbers[name].shape)
        for i, row in enumerate(rows):
            for j, column in enumerate(columns):
                scales[i, j] = numbers[name][row, column].abs().max() / 448
                eights[row, column] = (numbers[name][row, column] / scales[i, j]).to(torch.float8_e4m3fn).float()
                numbers[name][row, column] = eights[row, column] * scales[i, j]
        stored |= {name: eights.to(torch.float8_e4m3fn), f"{name}_scale_inv": scales}
    save_file(stored, folder / "model.safetensors", metadata={"format": "pt"})
    kind = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [BLOCK, BLOCK]}
    change(folder, quantization_config=kind)
    return numbers


def plain(folder: Path, numbers: dict[str, torch.Tensor]) -> Path:
    write_tiny_model(folder, hidden_size=256, intermediate_size=384)
    save_file(numbers, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def logits(base: LoadedBase) -> torch.Tensor:
    with torch.no_grad():
        return base.model(input_ids=torch.arange(10, 74).unsqueeze(0)).logits


def test_a_base_in_fp8_is_read_as_the_numbers_that_it_stands_for(tmp_path: Path) -> None:
    numbers = write_fp8(tmp_path / "fp8")
    eight = load_base(str(tmp_path / "fp8"), quantization="none", device="cpu")
    assert {parameter.dtype for parameter in eight.model.parameters()} == {torch.float32}
    same = load_base(str(plain(tmp_path / "plain", numbers)), quantization="none", device="cpu")
    assert torch.equal(logits(eight), logits(same))


@pytest.mark.parametrize("dequantised", [False, True])
def test_a_base_in_fp8_is_quantised_to_nf4_as_any_other_and_learns(
    tmp_path: Path, windows: list[Window], dequantised: bool
) -> None:
    numbers = write_fp8(tmp_path / "fp8")
    halved = {name: number.bfloat16().float() for name, number in numbers.items() if name.endswith("_proj.weight")}
    same = plain(tmp_path / "plain", numbers | halved)
    eight, four = (load_base(str(folder), device="cpu", dequantised=dequantised) for folder in (tmp_path / "fp8", same))
    assert len(linear4bit_layers(eight.model)) == (0 if dequantised else 14)
    assert torch.equal(logits(eight), logits(four))
    trained, _ = train_tiny(eight, windows, settings(epochs=2))
    assert trained.losses[-1] < trained.losses[0]


def test_a_base_in_fp8_that_does_not_fit_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_fp8(tmp_path / "fp8")
    monkeypatch.setattr(load, "available_bytes", lambda: 1_000_000)
    with pytest.raises(OutOfMemory, match=r"^fp8 is stored in 8 bits and takes 0\.0 GB in bf16 while it is loaded"):
        load_base(str(tmp_path / "fp8"), device="cpu")


def test_a_base_stored_in_four_bits_is_taken_as_it_is_and_not_as_unquantised(tiny_copy: Path, tmp_path: Path) -> None:
    four = load_base(str(tiny_copy), device="cpu", dequantised=False)
    four.model.save_pretrained(tmp_path / "four")  # type: ignore[attr-defined]
    four.tokenizer.save_pretrained(tmp_path / "four")
    again = load_base(str(tmp_path / "four"), device="cpu", dequantised=False)
    assert torch.equal(logits(again), logits(four))
    with pytest.raises(BaseModelUnsupported, match="^four is stored in four bits: ask for quantization nf4"):
        load_base(str(tmp_path / "four"), quantization="none", device="cpu")
