"""What trainings make side by side is what each makes alone, whatever comes, goes or fails meanwhile."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from conftest import snapshot
from imprint_trainer.adapters.payload import trained_tensors
from imprint_trainer.data.windows import Window
from imprint_trainer.errors import AdapterNotFinite, Cancelled, OutOfMemory
from imprint_trainer.lora.adapter import fresh_adapter
from imprint_trainer.lora.checkpoints import CheckpointWriter, read_checkpoint
from imprint_trainer.lora.config import LoraTraining
from imprint_trainer.lora.loop import Stepwise, stepwise, to_end
from imprint_trainer.lora.memory import PeakMemory
from imprint_trainer.lora.schedule import Trained, plan_steps
from imprint_trainer.lora.targets import resolve_targets
from imprint_trainer.lora.together import loop
from imprint_trainer.lora.together.choice import Choice
from imprint_trainer.lora.together.loop import Together
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.models.load import load_base
from tiny_model import write_family, write_tiny_model
from training import settings

CLOSE = 1e-4
Made = tuple[Trained, dict[str, torch.Tensor]]

# Of different ranks, lengths, rates and numbers of windows in a step; the second holds text out.
TRAININGS = [
    settings(epochs=3),
    settings(epochs=2, rank=8, alpha=8.0, accumulation=2, profile="learn", seed=3),
    settings(epochs=1, learning_rate=2e-2, seed=5),
]


class Always(Choice):
    def together(self, windows: int, tokens: int) -> bool:
        return True


def job(base: LoadedBase, windows: list[Window], training: LoraTraining, **options: Any) -> Stepwise[Made]:
    targets = resolve_targets(base.model, training.target_modules)
    held_out = windows[:1] if training.profile == "learn" else ()
    with fresh_adapter(base, rank=training.rank, alpha=training.alpha, targets=targets, seed=training.seed) as model:
        steps, memory = plan_steps(windows, training), PeakMemory(base.device)
        run = stepwise(
            model, windows, training, steps, device=base.device, memory=memory, **({"held_out": held_out} | options)
        )
        trained = yield from run
        return trained, trained_tensors(model)


def all_of(base: LoadedBase, runs: dict[str, Stepwise[Any]], *, limit: int = 256) -> dict[str, Any]:
    ended: dict[str, Any] = {}
    together: Together[str] = Together(ended.__setitem__, limit=limit, choice=Always())
    for name, run in runs.items():
        together.begin(name, run)
    while len(together):
        together.step()
    return ended


def assert_same(found: Made, expected: Made) -> None:
    assert found[0].order == expected[0].order
    assert found[0].losses == pytest.approx(expected[0].losses, abs=CLOSE)
    assert found[0].held_out_losses == pytest.approx(expected[0].held_out_losses, abs=CLOSE)
    assert found[1].keys() == expected[1].keys()
    for name, tensor in expected[1].items():
        torch.testing.assert_close(found[1][name], tensor, rtol=CLOSE, atol=CLOSE)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """Windows of each training in each pass that several windows shared."""
    seen: list[list[int]] = []
    real = loop.add_gradients_together

    def watched(base: Any, shares: Any, device: Any) -> Any:
        seen.append([len(share.windows) for share in shares])
        return real(base, shares, device)

    monkeypatch.setattr(loop, "add_gradients_together", watched)
    return seen


@pytest.mark.parametrize("model_type", ["llama", "mistral", "qwen2", "qwen3"])
def test_side_by_side_each_makes_what_it_makes_alone(
    tmp_path: Path, windows: list[Window], passes: list[list[int]], model_type: str
) -> None:
    changes = {"sliding_window": None} if model_type == "mistral" else {}
    folder = write_tiny_model(tmp_path / model_type, model_type=model_type, **changes)
    base = load_base(str(folder), quantization="none", device="cpu")
    before = snapshot(base.model)
    alone = {str(at): to_end(job(base, windows, one)) for at, one in enumerate(TRAININGS)}
    found = all_of(base, {str(at): job(base, windows, one) for at, one in enumerate(TRAININGS)})
    assert [1, 2, 1] in passes
    for name, made in alone.items():
        assert_same(found[name], made)
    after = base.model.state_dict()
    assert list(after) == list(before)
    assert all(torch.equal(after[name], before[name]) for name in before)
    assert not any("forward" in vars(module) for module in base.model.modules())


def test_on_a_base_of_4_bits_too(nf4_base: LoadedBase, windows: list[Window], passes: list[list[int]]) -> None:
    alone = to_end(job(nf4_base, windows, TRAININGS[0]))
    found = all_of(nf4_base, {name: job(nf4_base, windows, TRAININGS[0]) for name in "ab"})
    # Products in bf16 are rounded in another way with other rows beside them.
    close = 2e-2 if nf4_base.computes_in == "bfloat16" else CLOSE
    assert passes
    for name in "ab":
        assert found[name][0].losses == pytest.approx(alone[0].losses, abs=close)


def test_windows_that_are_too_long_for_a_pass_go_alone(
    base: LoadedBase, windows: list[Window], passes: list[list[int]]
) -> None:
    found = all_of(base, {name: job(base, windows, TRAININGS[0]) for name in "ab"}, limit=30)
    assert not passes
    made = to_end(job(base, windows, TRAININGS[0]))
    for name in "ab":
        assert found[name][0].losses == made[0].losses
        assert all(torch.equal(found[name][1][key], tensor) for key, tensor in made[1].items())


def test_adapters_on_other_layers_share_no_pass(
    base: LoadedBase, windows: list[Window], passes: list[list[int]]
) -> None:
    on_two = settings(epochs=2, target_modules=("q_proj", "down_proj"))
    found = all_of(base, {"all": job(base, windows, TRAININGS[0]), "two": job(base, windows, on_two)})
    assert not passes
    assert_same(found["two"], to_end(job(base, windows, on_two)))


@pytest.mark.parametrize("family", ["gemma2", "falcon_h1"])
def test_a_base_whose_windows_would_meet_gets_a_pass_for_each(
    tmp_path: Path, windows: list[Window], passes: list[list[int]], family: str
) -> None:
    base = load_base(str(write_family(tmp_path / family, family)), quantization="none", device="cpu")
    training = settings(epochs=1, target_modules=("q_proj",))
    found = all_of(base, {name: job(base, windows, training) for name in "ab"})
    assert not passes
    assert_same(found["b"], to_end(job(base, windows, training)))


def test_one_that_comes_later_changes_nothing(base: LoadedBase, windows: list[Window]) -> None:
    ended: dict[str, Any] = {}
    together: Together[str] = Together(ended.__setitem__, limit=256, choice=Always())
    together.begin("first", job(base, windows, TRAININGS[0]))
    for _ in range(4):
        together.step()
    together.begin("second", job(base, windows, TRAININGS[1]))
    while len(together):
        together.step()
    assert_same(ended["first"], to_end(job(base, windows, TRAININGS[0])))
    assert_same(ended["second"], to_end(job(base, windows, TRAININGS[1])))


def test_a_cancelled_one_keeps_its_checkpoint_and_goes_on_from_it_alone(
    base: LoadedBase, windows: list[Window], tmp_path: Path
) -> None:
    def writer() -> CheckpointWriter:
        return CheckpointWriter(
            tmp_path, 3600, device=base.device, identity={}, made_with={}, on_written=lambda step: None
        )

    asked = iter([False] * 4 + [True] * 100)
    stopped = job(base, windows, TRAININGS[0], writer=writer(), cancelled=lambda: next(asked))
    ended = all_of(base, {"stopped": stopped, "other": job(base, windows, TRAININGS[1])})
    assert isinstance(ended["stopped"], Cancelled)
    assert_same(ended["other"], to_end(job(base, windows, TRAININGS[1])))
    checkpoint = read_checkpoint(tmp_path)
    assert 0 < checkpoint.state.step < 9
    assert_same(to_end(job(base, windows, TRAININGS[0], resume=checkpoint)), to_end(job(base, windows, TRAININGS[0])))


def test_one_that_fails_takes_no_other_with_it(base: LoadedBase, windows: list[Window]) -> None:
    wild = settings(epochs=50, learning_rate=0.1, max_grad_norm=1e30)

    def broken() -> Iterator[Any]:
        raise OutOfMemory("before its first step")
        yield

    def goes_wild(run: Stepwise[Made]) -> Stepwise[Made]:
        losses = yield next(run)
        while True:
            losses = yield run.send([float("nan")] * len(losses))

    ended = all_of(
        base,
        {"broken": broken(), "wild": goes_wild(job(base, windows, wild)), "good": job(base, windows, TRAININGS[0])},  # type: ignore[dict-item]
    )
    assert isinstance(ended["broken"], OutOfMemory)
    assert isinstance(ended["wild"], AdapterNotFinite)
    assert_same(ended["good"], to_end(job(base, windows, TRAININGS[0])))


def test_memory_that_runs_out_in_a_shared_pass_ends_all_and_leaves_the_base_clean(
    base: LoadedBase, windows: list[Window], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot(base.model)

    def full(*_: Any) -> Any:
        raise torch.OutOfMemoryError("out of memory")

    monkeypatch.setattr(loop, "add_gradients_together", full)
    ended = all_of(base, {name: job(base, windows, TRAININGS[0]) for name in "ab"})
    assert [type(ended[name]) for name in "ab"] == [torch.OutOfMemoryError] * 2
    assert list(base.model.state_dict()) == list(before)
