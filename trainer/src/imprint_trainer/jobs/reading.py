"""How far a training and its proof are, window by window, and the time that is left: before the first step ends too."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from imprint_trainer.data.windows import Window
from imprint_trainer.lora.steps import Steps
from imprint_trainer.lora.within import FORWARD

EVERY = 1.0  # seconds between two events


@dataclass
class Reading:
    """`training` and `proof`: windows that are read at most."""

    emit: Callable[[dict[str, Any]], None]
    training: int
    proof: int
    seconds: float  # of a window of a training, as measured before it
    clock: Callable[[], float] = time.perf_counter
    done: int = 0
    _proving: bool = False
    _began: float = field(init=False)  # with the training, or with the proof
    _told: float = field(init=False)

    def __post_init__(self) -> None:
        self._began = self.clock()
        self.tell()

    @property
    def proof_seconds(self) -> float:
        return FORWARD * self.seconds * (self.training + self.proof - max(self.done, self.training))

    def trained(self) -> None:
        """After a window of a training."""
        self.done += 1
        self.seconds = (self.clock() - self._began) / self.done
        self._tell_if_due()

    def prove(self) -> None:
        """The training is over, maybe before its last step."""
        self.done, self._proving, self._began = self.training, True, self.clock()
        self.tell()

    def proves(self) -> None:
        """Before a window of a proof."""
        if (read := self.done - self.training) > 0:
            self.seconds = (self.clock() - self._began) / read / FORWARD
        self._tell_if_due()
        self.done = min(self.done + 1, self.training + self.proof)

    def tell(self) -> None:
        self._told = self.clock()
        left = self.seconds * max(0, self.training - self.done) + self.proof_seconds
        what = "windows read, proving" if self._proving else "windows read, training and proof"
        total = self.training + self.proof
        measuring = {"done": self.done, "total": total, "what": what, "eta_seconds": left}
        self.emit({"type": "measuring", "measuring": measuring})

    def _tell_if_due(self) -> None:
        if self.clock() - self._told >= EVERY:
            self.tell()


def seconds_of_a_window(steps: Steps, windows: Sequence[Window], tokens_per_second: float) -> float:
    return steps.tokens / len(windows) / tokens_per_second
