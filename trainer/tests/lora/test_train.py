import math
import random
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from conftest import snapshot
from imprint_trainer.data.windows import Window
from imprint_trainer.errors import AdapterNotFinite, Cancelled
from imprint_trainer.lora import steps as planning
from imprint_trainer.lora.adapter import fresh_adapter, resolve_targets
from imprint_trainer.lora.loss import loss_sum, mean_loss, window_tensors
from imprint_trainer.lora.steps import in_parts
from imprint_trainer.lora.train import blocks_of, checkpointed, forward_backward
from imprint_trainer.models.causal_lm import LoadedBase
from training import settings, train_tiny


def full_logits_loss(model: torch.nn.Module, window: Window) -> torch.Tensor:
    """The plain way: every logit, labels shifted by one, masked with -100."""
    ids = torch.tensor([window.input_ids])
    labels = torch.tensor([t if s else -100 for t, s in zip(window.input_ids, window.supervised, strict=True)])
    return F.cross_entropy(model(input_ids=ids).logits[0, :-1].float(), labels[1:], ignore_index=-100, reduction="sum")


def test_one_window_is_learned_by_heart(nf4_base: LoadedBase, windows: list[Window]) -> None:
    trained, _ = train_tiny(nf4_base, windows[:1], settings(epochs=100, rank=16, alpha=32.0, learning_rate=2e-2))
    assert trained.losses[0] > 4
    assert trained.losses[-1] < 0.05


def test_the_base_is_bit_identical_afterwards(nf4_base: LoadedBase, windows: list[Window]) -> None:
    before = snapshot(nf4_base.model)
    names = [name for name, _ in nf4_base.model.named_modules()]
    _, payload = train_tiny(nf4_base, windows, settings())
    after = nf4_base.model.state_dict()
    assert list(after) == list(before)
    assert all(torch.equal(after[name], before[name]) for name in before)
    assert [name for name, _ in nf4_base.model.named_modules()] == names
    assert all(".lora_A." in key or ".lora_B." in key for key in payload.tensors)


def test_only_adapter_tensors_are_trained(base: LoadedBase, windows: list[Window]) -> None:
    trainable: list[str] = []
    train_tiny(
        base,
        windows,
        settings(epochs=1),
        on_model=lambda model: trainable.extend(name for name, p in model.named_parameters() if p.requires_grad),
    )
    assert len(trainable) == 2 * 7 * 2
    assert all("lora_" in name for name in trainable)


def test_the_loss_equals_that_of_full_logits(base: LoadedBase, windows: list[Window]) -> None:
    for window in windows:
        expected = float(full_logits_loss(base.model, window))
        assert float(loss_sum(base.model, window, base.device)) == pytest.approx(expected, rel=1e-5)


def test_unsupervised_tokens_contribute_nothing(base: LoadedBase) -> None:
    ids, mask = (5, 6, 7, 8, 9, 10), (False, False, True, False, False, False)
    kept = loss_sum(base.model, Window(ids, mask), base.device)
    changed_after = loss_sum(base.model, Window((5, 6, 7, 99, 98, 97), mask), base.device)
    changed_before = loss_sum(base.model, Window((5, 99, 7, 8, 9, 10), mask), base.device)
    assert torch.equal(kept, changed_after)
    assert not torch.equal(kept, changed_before)


def test_per_step_losses_equal_a_plain_reference_loop(base: LoadedBase, windows: list[Window]) -> None:
    from peft import get_peft_model

    from imprint_trainer.lora.adapter import lora_config, resolve_targets

    training = settings(epochs=8, accumulation=3, warmup_fraction=0.0)
    trained, _ = train_tiny(base, windows, training)
    torch.manual_seed(training.seed)
    config = lora_config(rank=4, alpha=8.0, targets=resolve_targets(base.model, None))
    model = get_peft_model(base.model, config)
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=training.learning_rate, weight_decay=0.0)
    losses = []
    count = sum(sum(window.supervised[1:]) for window in windows)
    for step in range(8):
        for group in optimizer.param_groups:
            group["lr"] = training.learning_rate * 0.5 * (1 + math.cos(math.pi * step / 8))
        loss = sum(full_logits_loss(model, window) for window in windows) / count
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        losses.append(float(loss.detach()))
    model.unload()
    assert trained.losses == pytest.approx(losses, abs=1e-4)


def test_accumulated_batches_weigh_tokens_not_windows(base: LoadedBase, windows: list[Window]) -> None:
    trained, _ = train_tiny(base, windows, settings(epochs=1, accumulation=3))
    assert trained.losses[0] == pytest.approx(mean_loss(base.model, windows, base.device), rel=1e-5)


def test_the_last_partial_batch_is_a_step(base: LoadedBase, windows: list[Window]) -> None:
    trained, _ = train_tiny(base, windows, settings(epochs=2, accumulation=2))
    assert [len(batch) for batch in trained.order] == [2, 1, 2, 1]
    assert sorted(sum(trained.order[:2], ())) == [0, 1, 2]


def test_a_seed_decides_everything(base: LoadedBase, windows: list[Window]) -> None:
    first, adapter = train_tiny(base, windows, settings())
    again, same = train_tiny(base, windows, settings())
    other, different = train_tiny(base, windows, settings(seed=12))
    assert first == again
    assert all(torch.equal(adapter.tensors[key], same.tensors[key]) for key in adapter.tensors)
    assert first.losses != other.losses
    assert any(not torch.equal(adapter.tensors[key], different.tensors[key]) for key in adapter.tensors)


def test_an_evaluation_between_steps_changes_no_bit(nf4_base: LoadedBase, windows: list[Window]) -> None:
    plain, _ = train_tiny(nf4_base, windows, settings())
    seen: list[tuple[float, float]] = []
    models = []

    def evaluate(_: object) -> None:
        model = models[0]
        training_loss = float(loss_sum(model, windows[0], nf4_base.device).detach())
        model.eval()
        mean_loss(model, windows, nf4_base.device)
        model.train()
        seen.append((training_loss, float(loss_sum(model, windows[0], nf4_base.device).detach())))

    evaluated, _ = train_tiny(nf4_base, windows, settings(), on_step=evaluate, on_model=models.append)
    assert len(seen) == len(plain.losses)
    assert all(before == after for before, after in seen)
    assert evaluated.losses == plain.losses


def test_progress_is_a_plain_dict_a_step(base: LoadedBase, windows: list[Window]) -> None:
    progress: list[dict[str, object]] = []
    train_tiny(base, windows, settings(epochs=2), on_step=progress.append)
    assert [one["step"] for one in progress] == [1, 2, 3, 4, 5, 6]
    assert {one["steps"] for one in progress} == {6}
    assert progress[-1]["epoch"] == 2.0
    assert progress[-1]["eta_seconds"] == 0
    assert all(one.pop("held_out_loss") is None for one in progress)  # nothing is held out
    assert all(isinstance(value, int | float) and math.isfinite(value) for one in progress for value in one.values())


@pytest.mark.parametrize("passes", ["forward", "backward"])
def test_cancel_is_heard_between_blocks(base: LoadedBase, windows: list[Window], passes: str) -> None:
    asked = 0
    blocks = base.model.config.num_hidden_layers
    step = 2 * blocks - 1  # the first block has nothing to go back to
    stop = blocks if passes == "forward" else step

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked == step + stop

    before = snapshot(base.model)
    steps: list[object] = []
    with pytest.raises(Cancelled):
        train_tiny(base, windows, settings(accumulation=1), on_step=steps.append, cancelled=cancelled)
    assert (asked, len(steps)) == (step + stop, 1)
    assert all(torch.equal(tensor, before[name]) for name, tensor in base.model.state_dict().items())
    assert not any(block._forward_pre_hooks for block in blocks_of(base.model))


def test_a_loss_that_is_not_finite_ends_the_training(base: LoadedBase, windows: list[Window]) -> None:
    def spoil(model: torch.nn.Module) -> None:
        next(p for p in model.parameters() if p.requires_grad).data.fill_(float("nan"))

    with pytest.raises(AdapterNotFinite, match="step 1"):
        train_tiny(base, windows, settings(), on_model=spoil)


def test_open_ended_training_stops_by_itself_and_says_why(base: LoadedBase, windows: list[Window]) -> None:
    trained, _ = train_tiny(base, windows[:1], settings(epochs=None, rank=16, alpha=32.0))
    assert trained.stopped == "learned"
    assert trained.epoch_losses[-1] < 0.3 * trained.epoch_losses[0]
    stuck, _ = train_tiny(base, windows, settings(epochs=None, learning_rate=1e-12))
    assert stuck.stopped == "no_improvement"


def test_a_step_reads_its_loss_from_the_device_once(
    base: LoadedBase, windows: list[Window], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each reading makes a card wait for all that was asked of it; the sum is the same to the bit."""
    read: list[torch.Tensor] = []
    as_number = torch.Tensor.__float__

    def counted(tensor: torch.Tensor) -> float:
        read.append(tensor)
        return as_number(tensor)

    monkeypatch.setattr(torch.Tensor, "__float__", counted)
    with fresh_adapter(base, rank=4, alpha=8.0, targets=resolve_targets(base.model, None), seed=1) as model:
        total = forward_backward(model, windows, 40, base.device)
        assert len(read) == 1
        assert total == sum(float(loss_sum(model, window, base.device).detach()) for window in windows)


@pytest.mark.parametrize("profile", ["learn", "remember"])
def test_as_much_is_learned_in_short_windows_as_in_long_ones(
    base: LoadedBase, profile: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "STEP_TOKENS", 32)  # the lengths are scaled down, and so is the step
    follows = dict(zip(range(10, 300), random.Random(3).sample(range(10, 300), 290), strict=True))
    source = random.Random(4)
    text = [token for start in source.choices(range(10, 300), k=1024) for token in (start, follows[start])]
    mask = [index % 4 == 1 for index in range(len(text))]

    def window(start: int, length: int) -> Window:
        return Window(tuple(text[start : start + length]), tuple(mask[start : start + length]))

    steps, drops = [], []
    for length in (64, 128, 256, 512, 2048):
        windows = [window(start, length) for start in range(0, len(text), length)]
        training = settings(profile=profile, epochs=None if profile == "learn" else 3, accumulation=None)
        trained, _ = train_tiny(base, in_parts(windows, training), training)
        steps.append(len(trained.losses))
        drops.append(1 - trained.epoch_losses[-1] / trained.epoch_losses[0])
    assert max(steps) <= 1.2 * min(steps)
    assert max(drops) <= 1.2 * min(drops), drops


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


class Copies(TorchDispatchMode):
    """Between devices: whether each one waits."""

    def __init__(self) -> None:
        super().__init__()
        self.wait: list[bool] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.aten._to_copy.default:
            self.wait.append(not (kwargs or {}).get("non_blocking"))
        return func(*args, **(kwargs or {}))


def test_a_window_goes_to_a_card_without_waiting_for_the_one_before(windows: list[Window]) -> None:
    with Copies() as copies:
        inputs, positions, targets = window_tensors(windows[0], torch.device("meta"))
    assert copies.wait == [False, False]
    here = window_tensors(windows[0], torch.device("cpu"))
    assert [one.shape for one in (inputs, positions, targets)] == [one.shape for one in here]
