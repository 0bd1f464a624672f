"""Blocks that are run again in the backward pass."""

import torch

from imprint_trainer.data.windows import Window
from imprint_trainer.lora.adapter import fresh_adapter, resolve_targets
from imprint_trainer.lora.loss import loss_sum
from imprint_trainer.lora.train import checkpointed
from imprint_trainer.models.causal_lm import LoadedBase

CPU = torch.device("cpu")


def gradients(base: LoadedBase, window: Window, *, wanted: bool) -> tuple[float, dict[str, torch.Tensor], int]:
    """Loss, gradients, and the bytes that the forward pass keeps for the backward one."""
    kept: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    targets = resolve_targets(base.model, None)
    with (
        fresh_adapter(base, rank=4, alpha=8.0, targets=targets, seed=1) as model,
        checkpointed(model, wanted),
        torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor),
    ):
        model.train()
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                torch.nn.init.normal_(parameter, std=0.05)
        loss = loss_sum(model, window, CPU)
        saved = sum(kept.values())
        torch.autograd.backward(loss)
        found = {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}
    return float(loss.detach()), found, saved


def same_gradients(base: LoadedBase, windows: list[Window]) -> None:
    for window in windows:
        loss, plain, _ = gradients(base, window, wanted=False)
        again, made_again, _ = gradients(base, window, wanted=True)
        assert again == loss
        assert made_again.keys() == plain.keys()
        assert all(torch.equal(made_again[name], plain[name]) for name in plain)


def test_the_gradients_are_the_same_to_the_bit(base: LoadedBase, windows: list[Window]) -> None:
    same_gradients(base, windows)


def test_the_gradients_on_nf4_are_the_same_to_the_bit(nf4_base: LoadedBase, windows: list[Window]) -> None:
    same_gradients(nf4_base, windows)


def test_the_forward_pass_keeps_less(base: LoadedBase, windows: list[Window]) -> None:
    _, _, plain = gradients(base, windows[0], wanted=False)
    _, _, kept = gradients(base, windows[0], wanted=True)
    assert kept < plain / 2


def test_the_blocks_are_as_before_afterwards(base: LoadedBase) -> None:
    before = [set(vars(module)) for module in base.model.modules()]
    with checkpointed(base.model):
        assert any(getattr(module, "gradient_checkpointing", False) for module in base.model.modules())
    assert [set(vars(module)) for module in base.model.modules()] == before
