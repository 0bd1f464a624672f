"""When a training leaves a checkpoint behind."""

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from .checkpoint import tensors_of, write_checkpoint
from .schedule import Course

LARGEST_SHARE = 0.02  # of a training's time


@dataclass
class Keeper:
    """Writes into `folder` every `seconds`, less often where writing would take more than its share of the time."""

    folder: Path
    seconds: float
    device: torch.device
    identity: Mapping[str, Any]
    made_with: Mapping[str, Any]
    on_kept: Callable[[int], None]  # with the step
    clock: Callable[[], float] = time.perf_counter
    _kept: int = 0  # step
    _due: float = field(init=False)

    def __post_init__(self) -> None:
        self._due = self.clock() + self.seconds

    def after_step(self, model: nn.Module, optimizer: torch.optim.Optimizer, course: Course) -> None:
        if self.clock() >= self._due:
            self.keep(model, optimizer, course)

    def keep(self, model: nn.Module, optimizer: torch.optim.Optimizer, course: Course) -> None:
        """Now, unless this step is kept already. A disk that takes no checkpoint ends no training."""
        if course.done == self._kept or course.done == 0:
            return
        from safetensors import SafetensorError

        begun = self.clock()
        state = {
            "step": course.done,
            "max_steps": course.total,
            "identity": dict(self.identity),
            "made_with": dict(self.made_with),
            "loss_sums": course.loss_sums,
        }
        try:
            write_checkpoint(self.folder, tensors_of(model, optimizer, self.device), state)
        except (OSError, SafetensorError) as error:
            print(f"no checkpoint of step {course.done}: {type(error).__name__}", file=sys.stderr)
        else:
            self._kept = course.done
            self.on_kept(course.done)
        ended = self.clock()
        self._due = ended + max(self.seconds, (ended - begun) / LARGEST_SHARE)

    def resumed(self, step: int) -> None:
        """A checkpoint of this step stands in the folder."""
        self._kept = step
        self.on_kept(step)
