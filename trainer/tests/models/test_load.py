import json
from itertools import permutations
from pathlib import Path

import pytest
import torch

from imprint_trainer.models import load
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.linear import FrozenLinear
from imprint_trainer.models.load import load_base
from imprint_trainer.models.quantize import dequantised_fits, linear4bit_layers, nf4_config, settle_linear4bit
from tiny_model import write_family

IDS = torch.arange(10, 74).unsqueeze(0)


def logits(base: LoadedBase) -> torch.Tensor:
    with torch.no_grad():
        return base.model(input_ids=IDS).logits


def quantised(folder: Path) -> LoadedBase:
    return load_base(str(folder), device="cpu", dequantised=False)


def dequantised(folder: Path, monkeypatch: pytest.MonkeyPatch, *, native_bf16: bool) -> LoadedBase:
    monkeypatch.setattr(load, "multiplies_bf16", lambda: native_bf16)
    return load_base(str(folder), device="cpu", dequantised=True)


def test_dequantised_linears_hold_the_numbers_of_nf4(tiny_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = dequantised(tiny_folder, monkeypatch, native_bf16=False)
    assert plain.computes_in == "float32"
    assert torch.equal(logits(plain), logits(quantised(tiny_folder)))
    assert not torch.equal(logits(plain), logits(load_base(str(tiny_folder), quantization="none", device="cpu")))
    assert not linear4bit_layers(plain.model)


def test_where_the_cpu_multiplies_bf16_they_hold_them_in_bf16_below_fp32_activations(
    tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    halved = dequantised(tiny_folder, monkeypatch, native_bf16=True)
    linears = [module for module in halved.model.modules() if isinstance(module, FrozenLinear)]
    assert halved.computes_in == "bfloat16" and halved.model.dtype == torch.float32
    assert sum(module.weight.dtype == torch.bfloat16 for module in linears) == 14
    expected = logits(dequantised(tiny_folder, monkeypatch, native_bf16=False))
    assert logits(halved).dtype == torch.float32
    assert (logits(halved) - expected).norm() < 0.03 * expected.norm()


def test_a_base_that_is_not_quantised_is_computed_in_fp32_on_every_cpu(
    tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "multiplies_bf16", lambda: True)
    base = load_base(str(tiny_folder), quantization="none", device="cpu")
    assert base.computes_in == "float32"
    assert {parameter.dtype for parameter in base.model.parameters()} == {torch.float32}


def test_a_prequantised_folder_holds_the_numbers_of_quantising_on_the_fly(tiny_copy: Path) -> None:
    on_the_fly = logits(quantised(tiny_copy))
    quantised(tiny_copy).model.save_pretrained(tiny_copy / "nf4")
    (tiny_copy / "model.safetensors").write_bytes(b"not read any more")
    assert torch.equal(logits(quantised(tiny_copy)), on_the_fly)


@pytest.mark.parametrize("dequantised", [False, True])
@pytest.mark.parametrize(("stored", "asked"), list(permutations([torch.float32, torch.bfloat16, torch.float16], 2)))
def test_a_prequantised_folder_is_read_in_the_format_that_is_asked_for(
    tiny_copy: Path, stored: torch.dtype, asked: torch.dtype, dequantised: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "multiplies_bf16", lambda: False)  # where they are, products are of bf16 (ADR 21)
    load_base(str(tiny_copy), device="cpu", dtype=stored, dequantised=False).model.save_pretrained(tiny_copy / "nf4")
    base = load_base(str(tiny_copy), device="cpu", dtype=asked, dequantised=dequantised)
    assert {parameter.dtype for parameter in base.model.parameters() if parameter.is_floating_point()} == {asked}
    assert base.model.dtype == logits(base).dtype == asked
    exact = logits(quantised(tiny_copy))
    assert (logits(base).float() - exact).norm() < 0.05 * exact.norm()


def test_every_layer_but_the_head_is_nf4_with_double_quantisation(tiny_folder: Path) -> None:
    layers = linear4bit_layers(quantised(tiny_folder).model)
    assert len(layers) == 14
    for _, layer in layers:
        state = layer.weight.quant_state
        assert (state.quant_type, state.nested, state.dtype) == ("nf4", True, torch.float32)
        assert layer.compute_dtype is torch.float32


def test_no_layer_may_repack_itself_in_eval_mode(tiny_folder: Path) -> None:
    base = quantised(tiny_folder)
    for _, layer in linear4bit_layers(base.model):
        layer.support_avx512bf16_for_cpu = True  # as the library sets it on a CPU that has it
    settle_linear4bit(base.model, torch.float32)
    assert not any(layer.support_avx512bf16_for_cpu for _, layer in linear4bit_layers(base.model))


def test_the_compute_dtype_is_set_on_purpose() -> None:
    assert nf4_config(torch.bfloat16).bnb_4bit_compute_dtype is torch.bfloat16
    assert nf4_config(torch.float32).bnb_4bit_use_double_quant


def test_dequantising_needs_memory_to_spare(tiny_folder: Path) -> None:
    model = quantised(tiny_folder).model
    assert not dequantised_fits(model, torch.float32, 2 * 2**30)
    assert dequantised_fits(model, torch.float32, 3 * 2**30)


@pytest.mark.parametrize("quantization", ["nf4", "none"])
def test_a_loaded_base_is_frozen_and_in_eval_mode(tiny_folder: Path, quantization: str) -> None:
    base = load_base(str(tiny_folder), quantization=quantization, device="cpu")  # type: ignore[arg-type]
    assert not any(parameter.requires_grad for parameter in base.model.parameters())
    assert not any(module.training for module in base.model.modules())
    assert base.tokenizer.eos_token_id == 2


@pytest.mark.parametrize("quantization", ["nf4", "none"])
def test_a_family_without_fused_attention_is_loaded_too(tmp_path: Path, quantization: str) -> None:
    base = load_base(str(write_family(tmp_path / "m", "gemma2")), quantization=quantization, device="cpu")  # type: ignore[arg-type]
    assert base.model.config._attn_implementation == "eager"
    assert logits(base).isfinite().all()


@pytest.mark.parametrize("key", ["attn_implementation", "_attn_implementation"])
@pytest.mark.parametrize("named", ["eager", "flash_attention_2"])
def test_attention_is_fused_where_it_can_be_whatever_the_folder_says(tiny_copy: Path, key: str, named: str) -> None:
    path = tiny_copy / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: named}))
    base = load_base(str(tiny_copy), quantization="none", device="cpu")
    assert base.model.config._attn_implementation == "sdpa"


def test_on_a_card_too_weights_are_dequantised_where_its_memory_allows(
    tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = {"cuda:0": 80_000.0}
    monkeypatch.setattr(load, "available_mb", free.__getitem__)
    model, card = quantised(tiny_folder).model, torch.device("cuda:0")
    assert dequantised_fits(model, torch.bfloat16, load.room_on(card))
    free["cuda:0"] = 1_500.0
    assert not dequantised_fits(model, torch.bfloat16, load.room_on(card))
