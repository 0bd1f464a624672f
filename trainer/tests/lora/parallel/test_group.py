"""Real processes over gloo: what two of them train is what one trains."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch

from imprint_trainer.adapters.payload import Payload
from imprint_trainer.data.windows import Window
from imprint_trainer.errors import Cancelled, WorkerCrashed
from imprint_trainer.lora.checkpoints import Checkpoint, CheckpointWriter, read_checkpoint
from imprint_trainer.lora.loop import BatchGradients
from imprint_trainer.lora.parallel.group import group_of
from imprint_trainer.lora.parallel.messages import Setup, windows_of
from imprint_trainer.lora.schedule import Trained
from imprint_trainer.lora.targets import resolve_targets
from imprint_trainer.models.base import LoadedBase
from training import settings, train_tiny

CLOSE = 1e-4
TRAINING = settings(epochs=2, accumulation=2)  # three windows: each second step has one, and a member none


@pytest.fixture(autouse=True)
def _sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3] / "src"))


@pytest.fixture
def two(base: LoadedBase, tiny_folder: Path, windows: list[Window]) -> Callable[..., Any]:
    """Gives the model to two processes for the length of a training."""
    targets = resolve_targets(base.model, None)

    @contextmanager
    def share(
        _: LoadedBase,
        model: Any,
        stop: Callable[[], None] = lambda: None,
        address: str | None = None,
        **changes: Any,
    ) -> Iterator[BatchGradients]:
        def setup(number: int, store: str) -> Setup:
            values: dict[str, Any] = {
                "number": number,
                "processes": 2,
                "store": store,
                "base_model": str(tiny_folder),
                "quantization": "none",
                "dequantised": False,
                "device": "cpu",
                "threads": 1,
                "rank": TRAINING.rank,
                "alpha": TRAINING.alpha,
                "targets": targets,
                "seed": TRAINING.seed,
                "checkpointing": False,
                "scarce": False,
                "windows": windows_of(windows),
            }
            return Setup(**values | changes)

        with group_of(model, windows, setup, processes=2, stop=stop, address=address) as group:
            yield group.add_gradients

    return share


def children() -> list[psutil.Process]:
    return psutil.Process().children()


def writer(folder: Path) -> CheckpointWriter:
    folder.mkdir(exist_ok=True)
    return CheckpointWriter(
        folder, 1e9, device=torch.device("cpu"), identity={}, made_with={}, on_written=lambda _: None
    )


def cancelled_after(
    step: int, base: LoadedBase, windows: list[Window], folder: Path, resume: Checkpoint | None = None, **options: Any
) -> Checkpoint:
    done = [{"step": 0 if resume is None else resume.state.step}]

    def cancelled() -> bool:
        return done[-1]["step"] >= step

    with pytest.raises(Cancelled):
        train_tiny(
            base,
            windows,
            TRAINING,
            on_step=done.append,
            cancelled=cancelled,
            writer=writer(folder),
            resume=resume,
            **options,
        )
    checkpoint = read_checkpoint(folder)
    assert checkpoint.state.step == step
    return checkpoint


def assert_close(ours: tuple[Trained, Payload], theirs: tuple[Trained, Payload]) -> None:
    assert ours[0].order == theirs[0].order
    assert ours[0].losses == pytest.approx(theirs[0].losses, abs=CLOSE, rel=0)
    assert ours[1].tensors.keys() == theirs[1].tensors.keys()
    for key, tensor in theirs[1].tensors.items():
        torch.testing.assert_close(ours[1].tensors[key], tensor, atol=CLOSE, rtol=0)


def test_two_processes_train_what_one_trains_and_one_goes_on_where_they_were_cancelled(
    base: LoadedBase, windows: list[Window], two: Callable[..., Any], tmp_path: Path
) -> None:
    alone = train_tiny(base, windows, TRAINING)
    assert [len(batch) for batch in alone[0].order] == [2, 1, 2, 1]
    checkpoint = cancelled_after(3, base, windows, tmp_path, sharing=two)
    assert children() == []
    assert_close(train_tiny(base, windows, TRAINING, resume=checkpoint), alone)


def test_two_go_on_where_one_was_cancelled_and_a_member_that_dies_fails_the_training_with_how_it_died(
    base: LoadedBase, windows: list[Window], two: Callable[..., Any], tmp_path: Path
) -> None:
    alone = train_tiny(base, windows, TRAINING)
    checkpoint = cancelled_after(1, base, windows, tmp_path)
    steps: list[dict[str, Any]] = []

    def kill_at_three(progress: dict[str, Any]) -> None:
        steps.append(progress)
        if progress["step"] == 3:
            (member,) = children()
            os.kill(member.pid, signal.SIGKILL)

    def over_tcp(base: LoadedBase, model: Any) -> Any:
        """As if the member were on another node."""
        return two(base, model, address="127.0.0.1")

    with pytest.raises(WorkerCrashed, match=r"^process 2 of 2 was ended by SIGKILL, as a system does when"):
        train_tiny(base, windows, TRAINING, sharing=over_tcp, resume=checkpoint, on_step=kill_at_three)
    assert children() == []
    assert [step["loss"] for step in steps] == pytest.approx(alone[0].losses[1:3], abs=CLOSE, rel=0)


def test_a_training_that_is_cancelled_while_members_load_ends_them(
    base: LoadedBase, windows: list[Window], two: Callable[..., Any]
) -> None:
    def stop() -> None:
        assert len(children()) == 1
        raise Cancelled

    with pytest.raises(Cancelled):
        train_tiny(base, windows, TRAINING, sharing=lambda base, model: two(base, model, stop))
    assert children() == []
