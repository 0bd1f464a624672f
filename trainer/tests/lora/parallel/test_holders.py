"""Real processes over gloo that hold a base together: what they train is what one trains that holds it alone."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from imprint_trainer.adapters.neutral import neutral_loss
from imprint_trainer.data.windows import Window
from imprint_trainer.errors import Cancelled, WorkerCrashed
from imprint_trainer.lora.checkpoints import read_checkpoint
from imprint_trainer.lora.gradients import BatchGradients
from imprint_trainer.lora.parallel.group import group_of_holders
from imprint_trainer.lora.parallel.holders import Holders, holders_of
from imprint_trainer.lora.parallel.messages import Setup, windows_of
from imprint_trainer.lora.targets import resolve_targets
from imprint_trainer.models.base import LoadedBase
from training import settings, train_tiny

from .test_group import assert_close, children, writer

TRAINING = settings(epochs=2, accumulation=2)  # three windows: each second step has one, and a member none
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3] / "src"))


@contextmanager
def held(folder: Path, processes: int = 2) -> Iterator[tuple[Holders, LoadedBase]]:
    with holders_of(
        str(folder), processes=processes, device=CPU, threads=1, stop=lambda: None, digests=None
    ) as holders_and_base:
        yield holders_and_base


def sharing(holders: Holders, base: LoadedBase, windows: list[Window]) -> Callable[..., Any]:
    targets = resolve_targets(base.model, None)

    @contextmanager
    def share(_: LoadedBase, model: Any) -> Iterator[BatchGradients]:
        def setup(number: int, store: str) -> Setup:
            return Setup(
                number=number,
                processes=holders.members.processes,
                store=store,
                base_model=str(base.folder),
                quantization="none",
                dequantised=False,
                device="cpu",
                threads=1,
                rank=TRAINING.rank,
                alpha=TRAINING.alpha,
                targets=targets,
                seed=TRAINING.seed,
                checkpointing=True,
                scarce=False,
                windows=windows_of(windows),
            )

        yield group_of_holders(holders, model, windows, setup, stop=lambda: None).add_gradients

    return share


def test_three_that_hold_a_base_train_what_one_trains_and_one_goes_on_where_they_were_cancelled(
    base: LoadedBase, tiny_folder: Path, windows: list[Window], tmp_path: Path
) -> None:
    alone = train_tiny(base, windows, TRAINING, held_out=windows[:1])
    steps: list[dict[str, Any]] = []
    with held(tiny_folder, 3) as (holders, shared), pytest.raises(Cancelled):
        weights = dict(shared.model.named_parameters())
        assert weights["model.layers.1.mlp.up_proj.weight"].isnan().all()
        assert neutral_loss(shared.model, shared.tokenizer, CPU) == neutral_loss(base.model, base.tokenizer, CPU)
        train_tiny(
            shared,
            windows,
            TRAINING,
            held_out=windows[:1],
            on_step=steps.append,
            cancelled=lambda: len(steps) == 3,
            writer=writer(tmp_path),
            sharing=sharing(holders, shared, windows),
        )
    assert children() == []
    assert [step["held_out_loss"] for step in steps] == pytest.approx(
        [alone[0].held_out_losses[at] for at in (0, 1, 1)], abs=1e-4, rel=0
    )
    checkpoint = read_checkpoint(tmp_path)
    assert checkpoint.state.step == 3
    assert_close(train_tiny(base, windows, TRAINING, resume=checkpoint, held_out=windows[:1]), alone)


def test_a_member_that_dies_fails_the_training_with_how_it_died(tiny_folder: Path, windows: list[Window]) -> None:
    def kill(progress: dict[str, Any]) -> None:
        if progress["step"] == 2:
            os.kill(children()[0].pid, signal.SIGKILL)

    with (
        held(tiny_folder) as (holders, shared),
        pytest.raises(WorkerCrashed, match=r"^process 2 of 2 was ended by SIGKILL, as a system does when"),
    ):
        train_tiny(shared, windows, TRAINING, on_step=kill, sharing=sharing(holders, shared, windows))
    assert children() == []
