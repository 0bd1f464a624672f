"""Stock PEFT must compute what the direct application computes."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import PeftModel
from safetensors.torch import save_file

from imprint.tiny import FAMILIES, difference, place_in, random_factors, tiny_model
from imprint_trainer.errors import AdapterNotFinite
from imprint_trainer.imprint.config import AdapterPlace
from imprint_trainer.imprint.update import applied, to_peft
from imprint_trainer.lora.adapter import Factors, Payload

QUERY = torch.randint(3, 200, (1, 8), generator=torch.Generator().manual_seed(9))


def made(model: Any, *modules: str, **changes: Any) -> tuple[AdapterPlace, dict[str, Factors]]:
    place = AdapterPlace.model_validate(place_in(model, modules or ("down_proj",), **changes))
    return place, random_factors(place)


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


@pytest.mark.parametrize("family", FAMILIES)
def test_stock_peft_equals_the_direct_application(tmp_path: Path, family: str) -> None:
    model = tiny_model(family)
    place, factors = made(model, "down_proj", "q_proj")
    with applied(model, factors, place, scaling=0.7), torch.no_grad():
        direct = model(QUERY).logits
    assert difference(direct, model(QUERY).logits) > 1e-2
    got = peft_logits(model, to_peft(factors, place, model, scaling=0.7), tmp_path / "adapter")
    assert float((got - direct).abs().max()) < 1e-5 * max(1.0, float(direct.abs().max()))


def test_an_adapter_on_some_layers_leaves_the_others_alone(tmp_path: Path) -> None:
    model = tiny_model()
    place, factors = made(model, layer_indices=(0, 2))
    adapter = to_peft(factors, place, model, scaling=1)
    assert adapter.config["layers_to_transform"] == [0, 2]
    with applied(model, factors, place), torch.no_grad():
        direct = model(QUERY).logits
    assert difference(peft_logits(model, adapter, tmp_path / "adapter"), direct) < 1e-5


def test_alpha_is_the_rank_and_the_multiplier_stands_in_b() -> None:
    model = tiny_model()
    place, factors = made(model)
    whole, half = (to_peft(factors, place, model, scaling=scaling) for scaling in (1, 0.5))
    assert (whole.config["r"], whole.config["lora_alpha"], type(whole.config["lora_alpha"])) == (4, 4, int)
    assert whole.config["target_modules"] == ["down_proj"]
    assert whole.config["layers_to_transform"] is None
    key = "base_model.model.model.layers.1.mlp.down_proj"
    assert torch.equal(whole.tensors[f"{key}.lora_A.weight"], factors["down_proj"].A[1])
    assert torch.allclose(whole.tensors[f"{key}.lora_B.weight"], 2.5 * factors["down_proj"].B[1].mT)
    assert torch.allclose(half.tensors[f"{key}.lora_B.weight"], 0.5 * whole.tensors[f"{key}.lora_B.weight"])


def test_numbers_that_overflow_never_leave() -> None:
    model = tiny_model()
    place, factors = made(model, lora_alpha=1e38)
    with pytest.raises(AdapterNotFinite):
        to_peft({"down_proj": Factors(factors["down_proj"].A, factors["down_proj"].B * 1e3)}, place, model, scaling=1)


def test_the_hooks_are_gone_after_an_error() -> None:
    model = tiny_model()
    place, factors = made(model)
    before = model(QUERY).logits
    with pytest.raises(ZeroDivisionError), applied(model, factors, place):
        raise ZeroDivisionError
    assert torch.equal(model(QUERY).logits, before)


def test_the_delta_is_computed_in_the_factors_precision_and_returned_in_the_model_s() -> None:
    model = tiny_model().to(torch.bfloat16)
    place, factors = made(model)
    with applied(model, factors, place), torch.no_grad():
        assert model(QUERY).logits.dtype == torch.bfloat16
