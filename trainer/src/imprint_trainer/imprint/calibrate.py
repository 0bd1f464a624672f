"""How much of an update is applied: what half a session gains from the other, and neutral text allows (ADR 35)."""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from imprint_trainer.data.windows import Window
from imprint_trainer.imprint.update import Imprinted, Trial, applied
from imprint_trainer.lora.loss import interruptible, mean_loss
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.publish.losses import IMPRINT_TEXTS, Readers, neutral_loss, neutral_loss_of_base
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
    made: Imprinted,
    windows: Sequence[Window],
    readers: Readers,
    *,
    stop: Callable[[], None] = lambda: None,
) -> Calibrated:
    """Of the scales that neutral text allows, the largest that gains at least half of what the best one gains: in the
    trials, and where there are none with the whole update on `windows`, the session's own. Where none gains it is the
    smallest, which helps if the session's own text gains from it.

    Neutral loss is taken to rise with the scale, so that the largest allowed one is found by bisection, and the other
    to have one minimum: smaller scales are tried until it rises. Both are measured on a part of what was read.
    """
    config, whole = made.config, Trial(made.update.factors, tuple(windows))
    trials = made.trials or (whole,)
    before = [neutral_loss_of_base(base, name, NEUTRAL_TOKENS, readers.neutral) for name in IMPRINT_TEXTS]
    neutral: dict[float, list[float]] = {}
    found: dict[float, float] = {}

    def loss(scale: float | None, *some: Trial) -> float:
        """Mean over trials; None: of the bare base."""
        read, losses = readers.session if scale else readers.bare, []
        for one in some:
            scored = [thinned(one.windows[index]) for index in sample(one.windows, OWN_TOKENS)]
            with applied(base.model, one.factors, config, scaling=scale) if scale else nullcontext():
                losses.append(mean_loss(base.model, interruptible(scored, stop), base.device, read))
        return fmean(losses)

    def is_allowed(scale: float) -> bool:
        neutral[scale] = []
        with applied(base.model, whole.factors, config, scaling=scale):
            for name, bare_one in zip(IMPRINT_TEXTS, before, strict=True):
                stop()
                after = neutral_loss(
                    base.model, base.tokenizer, base.device, readers.neutral, name=name, tokens=NEUTRAL_TOKENS
                )
                neutral[scale].append(after)
                if not after <= bare_one * (1 + MOST_RISE_OF_ONE):
                    return False
        return fmean(neutral[scale]) <= fmean(before) * (1 + MOST_RISE)

    bare = loss(None, *trials)
    # The whole update first: what was made well needs no other
    largest = 0 if is_allowed(SCALES[0]) else bisect_left(SCALES, True, lo=1, key=is_allowed)
    lowest = math.inf
    for scale in SCALES[largest:]:
        found[scale] = loss(scale, *trials)
        if not found[scale] < lowest:
            break
        lowest = found[scale]
    helps, chosen = lowest < bare, SCALES[-1]
    if helps:
        enough = bare - KEPT_GAIN * (bare - lowest)
        chosen = max(scale for scale in found if found[scale] <= enough)
    elif made.trials and found:
        found[chosen] = loss(chosen, *trials)
        helps = loss(chosen, whole) < loss(None, whole)
    measured = [scale for scale in SCALES if scale in found or scale in neutral]
    tried = [_tried(scale, found.get(scale), neutral.get(scale, [])) for scale in measured]
    return Calibrated(chosen, helps, tried)


def thinned(window: Window) -> Window:
    """With every second of its supervised tokens as a target, the last one among them."""
    return window.with_targets(frozenset(window.targets[::-1][::EVERY]))


def _tried(scale: float, loss: float | None, neutral: Sequence[float]) -> dict[str, Any]:
    """Losses that are no numbers are not shown."""
    pairs = zip(IMPRINT_TEXTS, neutral, strict=False)
    by_name = [{"name": name, "loss": rises} for name, rises in pairs if math.isfinite(rises)]
    return {"scale": scale, "loss": loss if loss is not None and math.isfinite(loss) else None, "neutral": by_name}
