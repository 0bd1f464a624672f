"""The trainings of a sweep: each as a LoRA job alone trains it, with a checkpoint of its own, on windows they share.

Held-out text is in two parts: one that chooses, and one that no choice sees.
"""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from imprint_trainer.data.holdout import SMALLEST_PART, HeldOut
from imprint_trainer.data.windows import Window
from imprint_trainer.errors import AdapterNotFinite, DiskFull
from imprint_trainer.jobs.context import JobContext
from imprint_trainer.jobs.halving import Point, Trial
from imprint_trainer.jobs.resume import Identity, differences, made_with
from imprint_trainer.lora.adapter import fresh_adapter, trained_tensors
from imprint_trainer.lora.checkpoint import STATE, Checkpoint, CheckpointWriter, read_checkpoint
from imprint_trainer.lora.loss import interruptible, token_losses
from imprint_trainer.lora.schedule import Trained
from imprint_trainer.lora.steps import LoraTraining, Steps
from imprint_trainer.lora.train import checkpointed, salvage, train
from imprint_trainer.models.causal_lm import CausalLM, LoadedBase
from imprint_trainer.models.memory import tensors_given_back
from imprint_trainer.publish.losses import held_out_proof, neutral_rise_over


@dataclass(frozen=True)
class Texts:
    choosing: HeldOut
    unseen: HeldOut | None  # None: too little is held out to spare a part

    @property
    def proving(self) -> HeldOut:
        """What the chosen adapter's proof is measured on."""
        return self.unseen or self.choosing


def parted(held_out: HeldOut) -> Texts:
    """The later half of the sessions chooses nothing, or of the windows where one session is held out: cut where the
    halves' supervised tokens differ the least, and nowhere if one would be too small to measure anything."""
    order = {session_id: at for at, session_id in enumerate(held_out.sessions)}
    windows = sorted(held_out.windows, key=lambda one: order[one[0]])  # stable: those of a session stay in order
    sessions = [session_id for session_id, _ in windows]
    total = sum(window.supervised_count for _, window in windows)
    cuts: dict[int, int] = {}
    before = 0
    for at, (session_id, window) in enumerate(windows[:-1], start=1):
        before += window.supervised_count
        whole = len(set(sessions)) == 1 or session_id != sessions[at]
        if whole and min(before, total - before) >= SMALLEST_PART:
            cuts[at] = abs(total - 2 * before)
    if not cuts:
        return Texts(held_out, None)
    cut = min(cuts, key=lambda at: cuts[at])
    return Texts(part(windows[:cut]), part(windows[cut:]))


def part(windows: list[tuple[str, Any]]) -> HeldOut:
    return HeldOut(tuple(dict.fromkeys(session_id for session_id, _ in windows)), tuple(windows))


def size_of(held_out: HeldOut) -> dict[str, int]:
    """`chosen_on` and `unseen` of the contracts' `Sweep`."""
    return {
        "windows": len(held_out.windows),
        "supervised_tokens": sum(window.supervised_count for _, window in held_out.windows),
    }


@dataclass(frozen=True)
class Setting:
    """What one trial is trained with."""

    training: LoraTraining
    steps: Steps
    again: list[list[Window]]  # what the passes after the first read
    identity: Identity


@dataclass
class Trials:
    """`settings` by the number of the trial; `folder` holds a folder for the checkpoint of each."""

    base: LoadedBase
    context: JobContext
    windows: Sequence[Window]
    texts: Texts
    targets: list[str]
    settings: dict[int, Setting]
    folder: Path
    seconds: float  # between two checkpoints
    gradient_checkpointing: bool
    low_memory: bool
    warnings: set[str] = field(default_factory=set)
    _before: list[Tensor] = field(default_factory=list)

    @property
    def before(self) -> list[Tensor]:
        """The base model's losses on the text that chooses, window by window."""
        if not self._before:
            self._before = self._losses(self.base.model)
        return self._before

    def train_rung(
        self,
        trial: Trial,
        until: int | None,
        *,
        on_step: Callable[[dict[str, Any]], None],
        on_written: Callable[[int], None],
    ) -> Trial:
        """Trained on to step `until` or to its end, and measured. Raises AdapterNotFinite, Cancelled, CheckpointInvalid
        and CheckpointMismatch."""
        setting, folder = self.settings[trial.trial], self._folder(trial)
        folder.mkdir(mode=0o700, exist_ok=True)
        writer = CheckpointWriter(
            folder,
            self.seconds,
            device=self.base.device,
            identity=setting.identity.to_json(),
            made_with=made_with(self.base),
            on_written=on_written,
        )
        checkpoint = self._checkpoint(trial) if (folder / STATE).is_file() else None
        self.warnings.update(differences(checkpoint, writer))
        neutral_rise = neutral_rise_over(self.base)
        with (
            self._adapter(setting.training) as model,
            checkpointed(model, self.gradient_checkpointing),
            tensors_given_back(self.low_memory),
        ):
            trained = train(
                model,
                self.windows,
                setting.training,
                setting.steps,
                device=self.base.device,
                memory=self.context.memory,
                on_step=on_step,
                cancelled=self.context.cancelled,
                writer=writer,
                resume=checkpoint,
                again=setting.again,
                held_out=[window for _, window in self.texts.choosing.windows],
                neutral_rise=neutral_rise,
                until=trial.max_steps if until is None else until,
            )
            model.eval()
            after = self._losses(model)
        return measured(
            trial, trained, held_out_proof(self.texts.choosing, self.before, after), setting.steps.per_epoch
        )

    def restored(self, trial: Trial) -> tuple[Trained, dict[str, Tensor]]:
        """A finished trial's history and adapter. Raises DiskFull where its last checkpoint could not be written."""
        setting, checkpoint = self.settings[trial.trial], self._checkpoint(trial)
        if checkpoint.state.step != trial.steps:
            raise DiskFull(f"the last checkpoint of trial {trial.trial} could not be written")
        with self._adapter(setting.training) as model:
            trained = salvage(
                model,
                self.windows,
                setting.training,
                setting.steps,
                checkpoint,
                again=setting.again,
                holds_out=True,
                looks=True,
                stopped=None,
            )
            return trained, trained_tensors(model)

    def forget(self, trial: Trial) -> None:
        shutil.rmtree(self._folder(trial), ignore_errors=True)

    def _adapter(self, training: LoraTraining) -> Any:
        return fresh_adapter(
            self.base, rank=training.rank, alpha=training.alpha, targets=self.targets, seed=training.seed
        )

    def _checkpoint(self, trial: Trial) -> Checkpoint:
        checkpoint = read_checkpoint(self._folder(trial))
        self.settings[trial.trial].identity.require_same(checkpoint.state.identity)
        return checkpoint

    def _folder(self, trial: Trial) -> Path:
        return self.folder / f"trial-{trial.trial:02d}"

    def _losses(self, model: CausalLM) -> list[Tensor]:
        windows = [window for _, window in self.texts.choosing.windows]
        stop = self.context.stop_if_cancelled
        found = [token_losses(model, window, self.base.device)[0] for window in interruptible(windows, stop)]
        if not all(bool(torch.isfinite(one).all()) for one in found):
            raise AdapterNotFinite("the loss on held-out text is not finite")
        return found


def measured(trial: Trial, trained: Trained, proof: dict[str, Any], per_epoch: int) -> Trial:
    """`proof`: a `HeldOutProof` of the adapter as it is, on the text that chooses."""
    steps, paused = len(trained.losses), trained.stopped == "paused"
    points = {point.step: point.loss for point in trial.curve}
    points |= {min(at * per_epoch, steps): loss for at, loss in enumerate(trained.held_out_losses)}
    if paused:
        points.setdefault(steps, proof["loss_after"])
    return trial.model_copy(
        update={
            "steps": steps,
            "state": "paused" if paused else "finished",
            "curve": tuple(Point(step=step, loss=points[step]) for step in sorted(points)),
            "loss_before": proof["loss_before"],
            "loss_after": proof["loss_after"],
            "interval": tuple(proof["interval"]),
        }
    )
