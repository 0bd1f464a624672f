"""The learning rate of each step."""

import math


def learning_rate(
    step: int, *, peak: float, max_steps: int, warmup_fraction: float, open_ended: bool, cooling: range = range(0)
) -> float:
    """Linear warm-up, then cosine to zero; open-ended, constant until the steps of `cooling`, where it falls in a line.

    `step` counts from 0.
    """
    if step in cooling:
        return peak * (cooling.stop - step) / (len(cooling) + 1)
    warmup = max(1, math.ceil(warmup_fraction * max_steps)) if warmup_fraction > 0 else 0
    if step < warmup:
        return peak * ((step + 1) / warmup)
    if open_ended:
        return peak
    progress = (step - warmup) / max(1, max_steps - warmup)
    return peak * 0.5 * (1.0 + math.cos(math.pi * progress))
