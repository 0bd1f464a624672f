from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch

from imprint_trainer.data.windows import Window
from imprint_trainer.lora.adapter import detach, lora_config, resolve_targets
from imprint_trainer.lora.kernels import fused, is_plain_lora, is_swiglu
from imprint_trainer.lora.loss import chunked_cross_entropy, loss_sum
from imprint_trainer.models import load
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.device import mixed_precision
from imprint_trainer.models.head import OutputHead


def adapted_model(base: LoadedBase, targets: list[str]) -> torch.nn.Module:
    from peft import get_peft_model

    torch.manual_seed(3)
    model = get_peft_model(base.model, lora_config(rank=4, alpha=6.0, targets=targets))
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.float()
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.05)
    return model.train()


def loss_and_gradients(model: torch.nn.Module, window: Window) -> tuple[float, dict[str, torch.Tensor]]:
    model.zero_grad()
    with mixed_precision(torch.device("cpu"), model.dtype):
        loss = loss_sum(model, window, torch.device("cpu"))
    torch.autograd.backward(loss)
    return float(loss.detach()), {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}


Measured = tuple[float, dict[str, torch.Tensor]]


def without_and_with_kernels(model: torch.nn.Module, windows: list[Window]) -> Iterator[tuple[Measured, Measured]]:
    """Of each window; every layer and norm of the model takes part."""
    for window in windows:
        without = loss_and_gradients(model, window)
        with fused(model):
            assert sum("forward" in vars(module) for module in model.modules()) == 16 + 5
            yield without, loss_and_gradients(model, window)


@pytest.mark.parametrize("targets", [None, ["q_proj", "down_proj"], ["gate_proj", "up_proj", "down_proj"], ["v_proj"]])
def test_the_kernels_give_pefts_loss_and_gradients(
    base: LoadedBase, windows: list[Window], targets: list[str] | None
) -> None:
    model = adapted_model(base, resolve_targets(base.model, targets))
    for window in windows:
        loss, gradients = loss_and_gradients(model, window)
        with fused(model):
            fused_loss, fused_gradients = loss_and_gradients(model, window)
        assert fused_loss == pytest.approx(loss, rel=1e-5)
        assert fused_gradients.keys() == gradients.keys()
        for name, gradient in gradients.items():
            torch.testing.assert_close(fused_gradients[name], gradient, rtol=1e-4, atol=1e-5)
    detach(base, model)


def test_above_bf16_weights_they_give_pefts_to_rounding(
    tiny_folder: Path, windows: list[Window], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "multiplies_bf16", lambda: True)
    base = load.load_base(str(tiny_folder), device="cpu", dequantised=True)
    model = adapted_model(base, resolve_targets(base.model, None))
    for (loss, gradients), (fused_loss, fused_gradients) in without_and_with_kernels(model, windows):
        assert fused_loss == pytest.approx(loss, rel=1e-3)
        for name, gradient in gradients.items():
            assert (fused_gradients[name] - gradient).norm() < 0.02 * gradient.norm()
    detach(base, model)


def test_whole_blocks_and_single_layers_are_found_and_given_back(base: LoadedBase) -> None:
    model = adapted_model(base, resolve_targets(base.model, None))
    modules = list(model.modules())
    assert sum(is_swiglu(module) for module in modules) == 2
    assert sum(is_plain_lora(module) for module in modules) == 14
    with fused(model):
        assert sum("forward" in vars(module) for module in modules) == 16 + 5
    assert not any("forward" in vars(module) for module in modules)
    detach(base, model)


@pytest.mark.parametrize("dequantised", [False, True])
def test_on_a_base_in_four_bits_they_give_pefts(
    tiny_folder: Path, windows: list[Window], dequantised: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "multiplies_bf16", lambda: False)  # products of bf16 round, PEFT's and these alike
    base = load.load_base(str(tiny_folder), device="cpu", dequantised=dequantised)
    model = adapted_model(base, resolve_targets(base.model, None))
    for (loss, gradients), (fused_loss, fused_gradients) in without_and_with_kernels(model, windows):
        assert fused_loss == pytest.approx(loss, rel=1e-5)
        for name, gradient in gradients.items():
            torch.testing.assert_close(fused_gradients[name], gradient, rtol=1e-4, atol=1e-5)
    detach(base, model)


@pytest.mark.parametrize("dequantised", [False, True])
def test_in_bf16_they_round_no_more_than_peft_does(tiny_folder: Path, windows: list[Window], dequantised: bool) -> None:
    def measured(dtype: torch.dtype, window: Window, *, with_kernels: bool) -> tuple[float, torch.Tensor]:
        base = load.load_base(str(tiny_folder), device="cpu", dtype=dtype, dequantised=dequantised)
        model = adapted_model(base, resolve_targets(base.model, None))
        with fused(model) if with_kernels else nullcontext():
            loss, gradients = loss_and_gradients(model, window)
        assert all(gradient.dtype == torch.float32 for gradient in gradients.values())
        return loss, torch.cat([gradients[name].flatten() for name in sorted(gradients)])

    for window in windows:
        exact_loss, exact = measured(torch.float32, window, with_kernels=False)
        _, pefts = measured(torch.bfloat16, window, with_kernels=False)
        loss, found = measured(torch.bfloat16, window, with_kernels=True)
        assert loss == pytest.approx(exact_loss, rel=0.01)
        assert (found - exact).norm() < 1.2 * (pefts - exact).norm()


@pytest.mark.parametrize(("scale", "softcap"), [(1.0, None), (0.3, None), (1.0, 5.0), (0.3, 5.0)])
@pytest.mark.parametrize("positions", [1, 127, 128, 300])
def test_chunks_of_logits_give_the_loss_and_gradient_of_all_at_once(
    positions: int, scale: float, softcap: float | None
) -> None:
    torch.manual_seed(positions)
    head = torch.nn.Linear(16, 50, bias=False).requires_grad_(False)
    targets = torch.randint(0, 50, (positions,))
    hidden = torch.randn(positions, 16, requires_grad=True)
    chunked = chunked_cross_entropy(hidden, OutputHead(head, scale, softcap), targets)
    torch.autograd.backward(chunked)
    logits = scale * head(plain := hidden.detach().clone().requires_grad_())
    logits = logits if softcap is None else torch.tanh(logits / softcap) * softcap
    whole = torch.nn.functional.cross_entropy(logits, targets, reduction="sum")
    torch.autograd.backward(whole)
    torch.testing.assert_close(chunked, whole)
    assert hidden.grad is not None
    torch.testing.assert_close(hidden.grad, plain.grad)
