"""Which windows of a training a proof reads: all of a short one, a sample of a long one."""

from collections.abc import Sequence
from random import Random

from imprint_trainer.data.windows import Window

MOST_TOKENS = 32_768  # of windows; each is read twice, with the adapter and without


def sample(windows: Sequence[Window], most_tokens: int | None = None) -> list[int]:
    """Indices, in order: the same ones for the same windows."""
    most = MOST_TOKENS if most_tokens is None else most_tokens
    order = list(range(len(windows)))
    if sum(len(window.input_ids) for window in windows) > most:
        Random(0).shuffle(order)
    chosen: list[int] = []
    tokens = 0
    for index in order:
        tokens += len(windows[index].input_ids)
        if chosen and tokens > most:
            break
        chosen.append(index)
    return sorted(chosen)


def remark_on(chosen: Sequence[int], windows: Sequence[Window]) -> list[str]:
    """Which windows were read, counted from 1 as previews do; nothing where all were."""
    if len(chosen) == len(windows):
        return []
    numbers = ", ".join(str(index + 1) for index in chosen)
    return [f"Losses were measured on {len(chosen)} of {len(windows)} windows, drawn at random: {numbers}."]
