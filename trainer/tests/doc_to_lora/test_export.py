"""Stock PEFT must compute what the direct application computes."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from peft import PeftModel
from safetensors.torch import save_file

from imprint_trainer.doc_to_lora.apply import applied
from imprint_trainer.doc_to_lora.compress import compress
from imprint_trainer.doc_to_lora.encoder import encode
from imprint_trainer.doc_to_lora.export import to_peft
from imprint_trainer.doc_to_lora.merge import merge_chunks
from imprint_trainer.lora.adapter import Factors, Payload

from .tiny import FAMILIES, difference, ids_and_mask, random_hypernetwork, tiny_config, tiny_model

FORMS: dict[str, dict[str, Any]] = {
    "folded alpha": {"form": "folded"},
    "float alpha": {"form": "float"},
    "zero-padded rank": {"form": "folded", "pad_to": 8},
    "zero-padded rank, float alpha": {"form": "float", "pad_to": 16},
}
QUERY, _ = ids_and_mask([8], seed=9)


def peft_logits(model: Any, adapter: Payload, folder: Path) -> torch.Tensor:
    """The adapter written to disk and loaded by stock PEFT."""
    folder.mkdir()
    save_file(dict(adapter.tensors), folder / "adapter_model.safetensors")
    (folder / "adapter_config.json").write_text(json.dumps(adapter.config))
    loaded = PeftModel.from_pretrained(model, folder)
    with torch.no_grad():
        logits: torch.Tensor = loaded(QUERY).logits
    loaded.unload()
    return logits


def merged_for(model: Any, **changes: Any) -> tuple[Any, dict[str, Factors]]:
    network = random_hypernetwork(tiny_config(model, **changes))
    features = encode(model, *(pair := ids_and_mask([9, 5])), network.config)
    return network, merge_chunks(network, network(features, pair[1]))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize("family", FAMILIES)
def test_stock_peft_equals_the_direct_forward(tmp_path: Path, family: str, form: dict[str, Any]) -> None:
    model = tiny_model(family)
    network, merged = merged_for(model, modules=("down_proj", "q_proj"))
    with applied(model, merged, network.config), torch.no_grad():
        direct = model(QUERY).logits
    base = model(QUERY).logits
    assert difference(direct, base) > 1e-2
    adapter = to_peft(merged, network.config, base_layers=3, **form)
    got = peft_logits(model, adapter, tmp_path / "adapter")
    assert float((got - direct).abs().max()) < 1e-5 * max(1.0, float(direct.abs().max()))


def test_an_adapter_on_some_layers_leaves_the_others_alone(tmp_path: Path) -> None:
    model = tiny_model()
    network, merged = merged_for(model, layer_indices=(0, 2))
    adapter = to_peft(merged, network.config, base_layers=3)
    assert adapter.config["layers_to_transform"] == [0, 2]
    with applied(model, merged, network.config), torch.no_grad():
        direct = model(QUERY).logits
    assert difference(peft_logits(model, adapter, tmp_path / "adapter"), direct) < 1e-5


def test_the_folded_form_has_an_integer_alpha_and_the_float_form_the_multiplier_times_the_rank() -> None:
    model = tiny_model()
    network, merged = merged_for(model)
    folded = to_peft(merged, network.config, base_layers=3).config
    floating = to_peft(merged, network.config, base_layers=3, form="float").config
    assert (folded["r"], folded["lora_alpha"], type(folded["lora_alpha"])) == (6, 6, int)
    assert (floating["r"], floating["lora_alpha"]) == (6, 2.5 * 6)
    assert folded["target_modules"] == ["down_proj"]


def test_scaling_multiplies_the_whole_update() -> None:
    model = tiny_model()
    network, merged = merged_for(model)
    plain = to_peft(merged, network.config, base_layers=3)
    double = to_peft(merged, network.config, base_layers=3, scaling=2.0)
    for key, tensor in plain.tensors.items():
        factor = 2.0 if "lora_B" in key else 1.0
        assert torch.allclose(double.tensors[key], factor * tensor)


def test_the_hooks_are_gone_after_an_error() -> None:
    model = tiny_model()
    network, merged = merged_for(model)
    before = model(QUERY).logits
    with pytest.raises(ZeroDivisionError), applied(model, merged, network.config):
        raise ZeroDivisionError
    assert torch.equal(model(QUERY).logits, before)


def test_the_delta_is_computed_in_the_factors_precision_and_returned_in_the_model_s() -> None:
    model = tiny_model().to(torch.bfloat16)
    network = random_hypernetwork(tiny_config(model))
    features = encode(model, *(pair := ids_and_mask([9])), network.config)
    merged = merge_chunks(network, network(features, pair[1]))
    assert merged["down_proj"].A.dtype == torch.float32
    with applied(model, merged, network.config), torch.no_grad():
        assert model(QUERY).logits.dtype == torch.bfloat16


@settings(max_examples=30)
@given(
    ranks=st.integers(1, 12),
    rank=st.integers(1, 12),
    d_in=st.integers(1, 9),
    d_out=st.integers(1, 9),
    seed=st.integers(0, 999),
)
def test_compression_is_the_best_of_its_rank_and_says_its_error(
    ranks: int, rank: int, d_in: int, d_out: int, seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)
    A = torch.randn(2, ranks, d_in, generator=generator, dtype=torch.float64)
    B = torch.randn(2, ranks, d_out, generator=generator, dtype=torch.float64)
    result = compress({"m": Factors(A, B)}, rank)
    pair = result.factors["m"]
    whole, got = B.mT @ A, pair.B.mT @ pair.A
    error = float((got - whole).norm() / whole.norm())
    singular = torch.linalg.svdvals(whole)
    best = float(singular[:, rank:].norm() / singular.norm())
    assert pair.A.shape[1] == min(rank, ranks)
    assert error == pytest.approx(best, abs=1e-6)
    assert result.error == pytest.approx(error, abs=1e-6)


def test_compressing_to_the_full_rank_changes_nothing() -> None:
    factors = {"m": Factors(torch.randn(1, 4, 5), torch.randn(1, 4, 6))}
    result = compress(factors, 4)
    assert result.factors is factors
    assert result.error == 0


def test_compressing_nothing_but_zeros_gives_zeros() -> None:
    result = compress({"m": Factors(torch.zeros(1, 4, 5), torch.zeros(1, 4, 6))}, 2)
    assert result.error == 0
    assert not result.factors["m"].A.any()
