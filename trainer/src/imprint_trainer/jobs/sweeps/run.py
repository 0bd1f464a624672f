"""Trains the trials of a sweep in legs, from one halving to the next, and chooses the best."""

from collections.abc import Callable
from dataclasses import dataclass

from imprint_trainer.errors import AdapterNotFinite

from imprint_trainer.jobs.sweeps.halving import better_half, pause_of, steps_at_most
from imprint_trainer.jobs.sweeps.state import Found, Trial

Leg = Callable[[Trial, int | None], Trial]


@dataclass(frozen=True)
class Legs:
    """`leg` trains a trial on from where it is, up to so many steps or to its end, and measures it: it is `paused` or
    `finished` then. Raises AdapterNotFinite. `keep` is told each new state of things, `forget` a trial that is over."""

    leg: Leg
    keep: Callable[[Found], None]
    forget: Callable[[Trial], None]


def run_trials(found: Found, shares: list[float], legs: Legs) -> Found:
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
                found = trained_on(found, trial, until, legs)
        if halves:
            found = halved(found, at, legs)
    if not going(found):
        raise AdapterNotFinite("the loss of every trial became NaN or infinite")
    return found


def going(found: Found) -> list[Trial]:
    return [trial for trial in found.trials if trial.goes_on]


def is_due(trial: Trial, until: int | None) -> bool:
    if trial.state == "finished":
        return False
    return until is None or trial.state != "paused" or trial.steps < until


def trained_on(found: Found, trial: Trial, until: int | None, legs: Legs) -> Found:
    legs.keep(found.replaced(trial.model_copy(update={"state": "training"})))
    try:
        after = legs.leg(trial, until)
    except AdapterNotFinite:
        after = trial.model_copy(update={"state": "failed"})
    found = found.replaced(after)
    legs.keep(found)
    if not after.goes_on:
        legs.forget(after)
    return found


def halved(found: Found, at: int, legs: Legs) -> Found:
    alive = going(found)
    better = better_half({trial.trial: loss_of(trial) for trial in alive})
    stopped = [trial.model_copy(update={"state": "stopped"}) for trial in alive if trial.trial not in better]
    for trial in stopped:
        found = found.replaced(trial)
    found = found.model_copy(update={"halved": at + 1})
    legs.keep(found)
    for trial in stopped:
        legs.forget(trial)
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
