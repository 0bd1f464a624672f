"""How much of an update is applied: what its session gains most from and neutral text allows (ADR 35)."""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from imprint_trainer.data.windows import Window
from imprint_trainer.imprint.config import AdapterPlace
from imprint_trainer.imprint.update import applied
from imprint_trainer.lora.adapter import Factors
from imprint_trainer.lora.loss import Read, interruptible, mean_loss
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.publish.losses import IMPRINT_TEXTS, neutral_loss, neutral_loss_of_base
from imprint_trainer.publish.prove import sample

SCALES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12)
MOST_RISE = 0.03  # of the mean loss over the neutral texts
MOST_RISE_OF_ONE = 0.06
KEPT_GAIN = 0.5  # of the best scale's gain: the largest scale that keeps so much recalls more
NEUTRAL_TOKENS = 192  # of each neutral text: the proof reads them whole
OWN_TOKENS = 2048  # of the session's windows
EVERY = 2  # which of their supervised tokens are scored: neighbours tell much the same


@dataclass(frozen=True)
class Calibrated:
    scale: float
    helps: bool
    tried: list[dict[str, Any]]  # the contracts' `TriedScale`, from the largest scale down


def calibrate(
    base: LoadedBase,
    factors: dict[str, Factors],
    config: AdapterPlace,
    windows: Sequence[Window],
    readers: tuple[Read, Read],
    *,
    stop: Callable[[], None] = lambda: None,
) -> Calibrated:
    """Of the scales that neutral text allows, the largest that gains at least half of what the best one gains on
    `windows`, the session's own. It helps where the best gains anything; else the smallest scale is given.

    Neutral loss is taken to rise with the scale, so that the largest allowed one is found by bisection, and the
    session's loss to have one minimum: smaller scales are tried until it rises. Both are measured on a part of what the
    proof reads.
    """
    read, read_neutral = readers
    before = [neutral_loss_of_base(base, name, NEUTRAL_TOKENS, read_neutral) for name in IMPRINT_TEXTS]
    scored = [thinned(windows[index]) for index in sample(windows, OWN_TOKENS)]
    neutral: dict[float, list[float]] = {}
    own: dict[float, float] = {}

    def own_loss() -> float:
        return mean_loss(base.model, interruptible(scored, stop), base.device, read)

    def is_allowed(scale: float) -> bool:
        neutral[scale] = []
        with applied(base.model, factors, config, scaling=scale):
            for name, loss in zip(IMPRINT_TEXTS, before, strict=True):
                stop()
                found = neutral_loss(
                    base.model, base.tokenizer, base.device, read_neutral, name=name, tokens=NEUTRAL_TOKENS
                )
                neutral[scale].append(found)
                if not found <= loss * (1 + MOST_RISE_OF_ONE):
                    return False
        return fmean(neutral[scale]) <= fmean(before) * (1 + MOST_RISE)

    own_before = own_loss()
    # The whole update first: what was made well needs no other
    largest = 0 if is_allowed(SCALES[0]) else bisect_left(SCALES, True, lo=1, key=is_allowed)
    lowest = math.inf
    for scale in SCALES[largest:]:
        with applied(base.model, factors, config, scaling=scale):
            own[scale] = own_loss()
        if not own[scale] < lowest:
            break
        lowest = own[scale]
    helps = lowest < own_before
    enough = own_before - KEPT_GAIN * (own_before - lowest)
    chosen = max(scale for scale in own if own[scale] <= enough) if helps else SCALES[-1]
    measured = [scale for scale in SCALES if scale in own or scale in neutral]
    tried = [_tried(scale, own.get(scale), neutral.get(scale, [])) for scale in measured]
    return Calibrated(chosen, helps, tried)


def thinned(window: Window) -> Window:
    """With every second of its supervised tokens as a target, the last one among them."""
    targets = [index for index, supervised in enumerate(window.supervised) if supervised and index > 0]
    kept = frozenset(targets[::-1][::EVERY])
    return replace(window, supervised=tuple(index in kept for index in range(len(window.supervised))))


def _tried(scale: float, own: float | None, neutral: Sequence[float]) -> dict[str, Any]:
    """Losses that are no numbers are not shown."""
    by_name = [
        {"name": name, "loss": loss} for name, loss in zip(IMPRINT_TEXTS, neutral, strict=False) if math.isfinite(loss)
    ]
    return {"scale": scale, "loss": own if own is not None and math.isfinite(own) else None, "neutral": by_name}
