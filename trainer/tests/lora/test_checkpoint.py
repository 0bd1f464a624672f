"""What is damaged, forged or of another training is refused, and nothing in it is run."""

import hashlib
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from imprint_trainer.data.windows import Window
from imprint_trainer.errors import CheckpointInvalid
from imprint_trainer.lora.checkpoint import STATE, read_checkpoint, write_checkpoint
from imprint_trainer.lora.steps import plan_steps
from imprint_trainer.lora.train import salvage
from imprint_trainer.models.causal_lm import LoadedBase
from lora.test_resume import cancelled_at, resumed, writer
from training import settings, train_tiny

TRAINING = settings(epochs=2)


@pytest.fixture
def folder(base: LoadedBase, windows: list[Window], tmp_path: Path) -> Path:
    cancelled_at(base, windows, TRAINING, tmp_path / "c", 3)
    return tmp_path / "c"


def weights_of(folder: Path) -> Path:
    return folder / json.loads((folder / STATE).read_text())["weights"]


def forge(folder: Path, **changes: Any) -> None:
    state = json.loads((folder / STATE).read_text())
    if (folder / state["weights"]).is_file():
        state["sha256"] = hashlib.sha256((folder / state["weights"]).read_bytes()).hexdigest()
    (folder / STATE).write_text(json.dumps(state | changes))


def retensor(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    tensors = {key: value.clone() for key, value in load_file(weights_of(folder)).items()}
    change(tensors)
    save_file(tensors, weights_of(folder))
    forge(folder)


def test_it_is_two_files_without_pickles_readable_by_the_user_alone(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == ["checkpoint-0000003.safetensors", STATE]
    assert weights_of(folder).stat().st_mode & 0o077 == 0
    state = json.loads((folder / STATE).read_text())
    assert (state["step"], state["max_steps"], len(state["loss_sums"])) == (3, 6, 3)


def test_a_write_that_breaks_off_leaves_the_one_before(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for name in ("sync", "write_json"):
        with monkeypatch.context() as patch:
            patch.setattr(f"imprint_trainer.lora.checkpoint.{name}", full)
            with pytest.raises(OSError, match="No space"):
                write_checkpoint(folder, {"x": torch.zeros(2)}, {"step": 4})
        assert read_checkpoint(folder).state.step == 3
    write_checkpoint(
        folder, load_file(weights_of(folder)), json.loads(before[STATE]) | {"step": 4, "loss_sums": [1.0] * 4}
    )
    assert sorted(path.name for path in folder.iterdir()) == ["checkpoint-0000004.safetensors", STATE]


def test_a_disk_that_takes_no_checkpoint_ends_no_training(
    base: LoadedBase, windows: list[Window], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = train_tiny(base, windows, TRAINING)
    written: list[int] = []
    one = writer(tmp_path / "c", 0, written.append)
    (tmp_path / "c").rmdir()
    trained, _ = train_tiny(base, windows, TRAINING, writer=one)
    assert trained == plain[0]
    assert written == []
    assert "no checkpoint of step 1" in capsys.readouterr().err


def test_writing_takes_no_more_than_its_share_of_the_time(
    base: LoadedBase, windows: list[Window], tmp_path: Path
) -> None:
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 1.0  # a step takes one second, a checkpoint one more
        return now

    written: list[int] = []
    train_tiny(base, windows, settings(epochs=100), writer=writer(tmp_path / "c", 0, written.append, clock=clock))
    gaps = [later - earlier for earlier, later in zip(written, written[1:], strict=False)]
    assert written[0] == 1
    assert min(gaps) >= 50


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda folder: weights_of(folder).write_bytes(weights_of(folder).read_bytes()[:-9]), "SHA-256"),
        (lambda folder: (weights_of(folder).write_bytes(b"\0" * 99), forge(folder)), "no safetensors"),
        (lambda folder: weights_of(folder).unlink(), "not there"),
        (lambda folder: (folder / STATE).unlink(), "holds no checkpoint.json"),
        (lambda folder: (folder / STATE).write_text("{"), "not JSON"),
        (lambda folder: (folder / STATE).write_text("[" * 100_000), "not JSON"),
        (lambda folder: forge(folder, loss_sums=[1.0, float("nan"), 1.0]), "loss_sums"),
        (lambda folder: forge(folder, loss_sums=[1.0]), "1 losses of 3 steps"),
        (lambda folder: forge(folder, step=10**9, loss_sums=[1.0]), "1 losses"),
        (lambda folder: forge(folder, surprise=1), "surprise"),
        (lambda folder: forge(folder, format=3, surprise=1), "format 3; this Imprint reads 2"),
        (lambda folder: forge(folder, weights="../../adapter_model.safetensors"), "not there"),
        (lambda folder: forge(folder, weights="optimizer.pt"), "not there"),
        (lambda folder: retensor(folder, lambda tensors: tensors.popitem()), "do not fit|no random state"),
        (lambda folder: retensor(folder, lambda t: t.update({"evil": torch.zeros(1)})), "do not fit the adapter: evil"),
        (lambda folder: retensor(folder, lambda t: first(t, "adapter.").fill_(float("nan"))), "NaN"),
        (lambda folder: retensor(folder, lambda t: first(t, "optimizer.exp_avg_sq.").fill_(float("inf"))), "NaN"),
        (lambda folder: retensor(folder, lambda t: first(t, "optimizer.exp_avg_sq.").fill_(-1)), "negative"),
        (lambda folder: retensor(folder, lambda t: first(t, "optimizer.step.").fill_(7)), "not its step"),
        (lambda folder: retensor(folder, lambda t: first(t, "rng.cpu").fill_(255)), "random state"),
        (lambda folder: retensor(folder, halved), "do not fit"),
    ],
)
def test_a_damaged_or_forged_one_is_refused_and_the_base_unharmed(
    base: LoadedBase, windows: list[Window], folder: Path, spoil: Callable[[Path], object], words: str
) -> None:
    spoil(folder)
    with pytest.raises(CheckpointInvalid, match=words):
        resumed(base, windows, TRAINING, folder)
    assert not hasattr(base.model, "peft_config")


def first(tensors: dict[str, torch.Tensor], prefix: str) -> torch.Tensor:
    return next(tensors[key] for key in sorted(tensors) if key.startswith(prefix))


def halved(tensors: dict[str, torch.Tensor]) -> None:
    key = next(key for key in sorted(tensors) if key.startswith("adapter."))
    tensors[key] = tensors[key].half()


def test_more_steps_than_the_training_has_are_refused(base: LoadedBase, windows: list[Window], folder: Path) -> None:
    steps = plan_steps(windows, settings(epochs=1))
    forge(folder, step=4, loss_sums=[1.0] * 4)
    with pytest.raises(CheckpointInvalid, match="no training has the losses that lead to step 4"):
        salvage(base.model, windows, settings(epochs=1), steps, read_checkpoint(folder))


class Canary:
    """Pickled, it makes a file where it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


def test_no_pickle_is_loaded_under_any_name(base: LoadedBase, windows: list[Window], folder: Path) -> None:
    canary = folder.parent / "canary"
    payload = pickle.dumps(Canary(canary))
    for name in ("optimizer.pt", "rng_state.pth", "scheduler.pt", "training_args.bin", "adapter_model.bin"):
        (folder / name).write_bytes(payload)
    resumed(base, windows, TRAINING, folder)
    cancelled_at(base, windows, TRAINING, folder, 3)
    weights_of(folder).write_bytes(payload)
    forge(folder)
    with pytest.raises(CheckpointInvalid, match="no safetensors"):
        resumed(base, windows, TRAINING, folder)
    assert not canary.exists()
    pickle.loads(payload)  # noqa: S301  the canary would have been seen
    assert canary.exists()
