"""A base in bf16, as graphics cards hold it: its adapter is computed in bf16 and kept in fp32."""

from pathlib import Path
from typing import Any

import pytest
import torch

from imprint_trainer.data.windows import Window
from imprint_trainer.models import load
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.load import load_base
from training import settings, train_tiny

KINDS = {
    "4 bits": {"quantization": "nf4", "dequantised": False},
    "dequantised": {"quantization": "nf4", "dequantised": True},
    "plain": {"quantization": "none"},
}


@pytest.fixture(params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> dict[str, Any]:
    return KINDS[request.param]


def trained(base: LoadedBase, windows: list[Window]) -> tuple[list[float], dict[str, set[torch.dtype]]]:
    """Losses, and the number formats that were seen: of what adapted blocks give, of factors and of their gradients."""
    seen: dict[str, set[torch.dtype]] = {"products": set(), "factors": set(), "gradients": set()}
    models: list[Any] = []

    def watch(model: Any) -> None:
        models.append(model)
        for name, module in model.named_modules():
            if name.endswith(".mlp"):
                module.register_forward_hook(lambda _, __, given: seen["products"].add(given.dtype))
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.register_post_accumulate_grad_hook(lambda one: seen["gradients"].add(one.grad.dtype))

    def on_step(_: dict[str, Any]) -> None:
        assert not torch.is_autocast_enabled("cpu")
        seen["factors"] |= {one.dtype for one in models[0].parameters() if one.requires_grad}

    result, _ = train_tiny(base, windows, settings(learning_rate=1e-3), on_model=watch, on_step=on_step)
    return list(result.losses), seen


def test_products_are_bf16_and_factors_fp32(tiny_folder: Path, windows: list[Window], kind: dict[str, Any]) -> None:
    base = load_base(str(tiny_folder), device="cpu", dtype=torch.bfloat16, **kind)
    assert base.model.dtype == torch.bfloat16
    losses, seen = trained(base, windows)
    assert seen == {"products": {torch.bfloat16}, "factors": {torch.float32}, "gradients": {torch.float32}}
    in_fp32, _ = trained(load_base(str(tiny_folder), device="cpu", **kind), windows)
    assert losses == pytest.approx(in_fp32, rel=0.01)


def test_products_alone_in_bf16_lose_as_in_fp32(
    tiny_folder: Path, windows: list[Window], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As CPUs with units for bf16 compute above NF4."""
    monkeypatch.setattr(load, "multiplies_bf16", lambda: True)
    losses, seen = trained(load_base(str(tiny_folder), device="cpu", dequantised=True), windows)
    assert seen == {"products": {torch.float32}, "factors": {torch.float32}, "gradients": {torch.float32}}  # widened
    in_fp32, _ = trained(load_base(str(tiny_folder), device="cpu", dequantised=False), windows)
    assert losses == pytest.approx(in_fp32, rel=0.01) and losses != in_fp32


def test_the_same_request_gives_the_same_losses(tiny_folder: Path, windows: list[Window]) -> None:
    first, second = (load_base(str(tiny_folder), device="cpu", dtype=torch.bfloat16) for _ in range(2))
    assert trained(first, windows)[0] == trained(second, windows)[0]


def test_a_base_in_fp32_is_computed_in_fp32(tiny_folder: Path, windows: list[Window]) -> None:
    base = load_base(str(tiny_folder), device="cpu", dequantised=False)
    assert trained(base, windows)[1]["products"] == {torch.float32}
