"""Successive halving (Jamieson and Talwalkar, arXiv 1502.07943): when which trials are stopped.

Of n trials the worse half is stopped floor(log2 n) times, each time after twice the share of their steps, the last time
half-way. No halving comes before a trial's fourth step, since the first steps of a warm-up compare nothing.
What was found so far is in a file beside the checkpoints: a sweep that goes on begins with it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from imprint_trainer.errors import AdapterNotFinite
from imprint_trainer.files import write_json
from imprint_trainer.lora.checkpoint import read_state_file

EARLIEST = 4  # steps

EarlyStopping = Literal["halving", "none"]


def halvings(early_stopping: EarlyStopping, *, max_steps: Sequence[int]) -> list[float]:
    """Shares of their steps after which the worse half is stopped, ascending. `max_steps`: of each trial."""
    if early_stopping == "none":
        return []
    times = int(math.log2(len(max_steps)))
    shares = [2.0 ** (at - times) for at in range(times)]
    return [share for share in shares if share * min(max_steps) >= EARLIEST]


def pause_of(share: float, max_steps: int) -> int:
    """The step after which a trial is compared with the others."""
    return math.ceil(share * max_steps)


def better_half(losses: Mapping[int, float]) -> list[int]:
    """The trials that go on, by number: the half with the lower losses, rounded up; of equal ones the first."""
    ranked = sorted(losses, key=lambda number: (losses[number], number))
    return sorted(ranked[: math.ceil(len(ranked) / 2)])


def steps_at_most(max_steps: Sequence[int], done: Sequence[int], shares: Sequence[float]) -> int:
    """Steps that are left to these trials, whichever of them the halvings at `shares` stop. `done`: steps of each."""
    left, alive, reached = 0, len(max_steps), list(done)
    for share in [*shares, 1.0]:
        ends = [max(pause_of(share, steps), ran) for steps, ran in zip(max_steps, reached, strict=True)]
        left += sum(sorted((end - ran for end, ran in zip(ends, reached, strict=True)), reverse=True)[:alive])
        reached, alive = ends, math.ceil(alive / 2)
    return left


STATE = "sweep.json"
FORMAT = 1  # stepped when a field that is stored comes to mean something else

TrialState = Literal["waiting", "training", "paused", "stopped", "finished", "failed"]


class Point(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    step: int = Field(ge=0)
    loss: float


class Trial(BaseModel):
    """The contracts' `Trial`."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    trial: int = Field(ge=1)
    rank: int
    alpha: float
    learning_rate: float
    epochs: int
    steps: int = 0
    max_steps: int
    state: TrialState = "waiting"
    curve: tuple[Point, ...] = ()
    loss_before: float | None = None
    loss_after: float | None = None
    interval: tuple[float, float] | None = None

    @property
    def goes_on(self) -> bool:
        return self.state not in ("stopped", "failed")


class Found(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    format: int = FORMAT
    identity: dict[str, Any]  # of the widest trial: see jobs/resume.py
    trials: tuple[Trial, ...]
    halved: int = 0  # halvings that are done

    def replaced(self, trial: Trial) -> "Found":
        trials = tuple(trial if one.trial == trial.trial else one for one in self.trials)
        return self.model_copy(update={"trials": trials})


def write_found(folder: Path, found: Found) -> None:
    """Whole or not at all; the folder counts as just written from then on."""
    part = folder / f"{STATE}.part"
    write_json(part, found.model_dump(mode="json"))
    part.chmod(0o600)
    part.replace(folder / STATE)


def read_found(folder: Path) -> Found:
    """Raises CheckpointInvalid."""
    return read_state_file(folder / STATE, Found, FORMAT)


TrainRung = Callable[[Trial, int | None], Trial]


@dataclass(frozen=True)
class Rungs:
    """`train_rung` trains a trial on from where it is, up to so many steps or to its end, and measures it: it is
    `paused` or `finished` then. Raises AdapterNotFinite. `keep` is told each new state, `forget` a trial that ended."""

    train_rung: TrainRung
    keep: Callable[[Found], None]
    forget: Callable[[Trial], None]


def run_trials(found: Found, shares: list[float], rungs: Rungs) -> Found:
    """The same end wherever `found` begins. Raises AdapterNotFinite where every trial's loss is NaN or infinite."""
    for at, share in enumerate([*shares, 1.0]):
        if at < found.halved:
            continue
        halves = at < len(shares)
        if halves and len(going(found)) < 2:
            continue
        for trial in going(found):
            until = pause_of(share, trial.max_steps) if halves else None
            if is_due(trial, until):
                found = trained_on(found, trial, until, rungs)
        if halves:
            found = halved(found, at, rungs)
    if not going(found):
        raise AdapterNotFinite("the loss of every trial became NaN or infinite")
    return found


def going(found: Found) -> list[Trial]:
    return [trial for trial in found.trials if trial.goes_on]


def is_due(trial: Trial, until: int | None) -> bool:
    if trial.state == "finished":
        return False
    return until is None or trial.state != "paused" or trial.steps < until


def trained_on(found: Found, trial: Trial, until: int | None, rungs: Rungs) -> Found:
    rungs.keep(found.replaced(trial.model_copy(update={"state": "training"})))
    try:
        after = rungs.train_rung(trial, until)
    except AdapterNotFinite:
        after = trial.model_copy(update={"state": "failed"})
    found = found.replaced(after)
    rungs.keep(found)
    if not after.goes_on:
        rungs.forget(after)
    return found


def halved(found: Found, at: int, rungs: Rungs) -> Found:
    alive = going(found)
    better = better_half({trial.trial: loss_of(trial) for trial in alive})
    stopped = [trial.model_copy(update={"state": "stopped"}) for trial in alive if trial.trial not in better]
    for trial in stopped:
        found = found.replaced(trial)
    found = found.model_copy(update={"halved": at + 1})
    rungs.keep(found)
    for trial in stopped:
        rungs.forget(trial)
    return found


def loss_of(trial: Trial) -> float:
    if trial.loss_after is None:
        raise ValueError(f"trial {trial.trial} was not measured")
    return trial.loss_after


def best_of(found: Found) -> Trial:
    """Of those that were trained to their end; of equal ones the first."""
    return min((one for one in found.trials if one.state == "finished"), key=lambda one: (loss_of(one), one.trial))


def steps_left(found: Found, shares: list[float]) -> int:
    """At most."""
    alive = [trial for trial in going(found) if trial.state != "finished"]
    return steps_at_most([trial.max_steps for trial in alive], [trial.steps for trial in alive], shares[found.halved :])
