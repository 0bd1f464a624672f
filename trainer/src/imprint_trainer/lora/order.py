"""The order in which windows are trained."""

import random
from collections.abc import Sequence

from imprint_trainer.data.windows import Window


def epoch_order(windows: Sequence[Window], *, seed: int, epoch: int) -> list[int]:
    """A seeded shuffle; the first epoch begins with the longest window, so that running out of memory shows at once."""
    order = list(range(len(windows)))
    random.Random(f"{seed}:{epoch}").shuffle(order)
    if epoch == 0:
        longest = max(order, key=lambda index: (len(windows[index].input_ids), -index))
        order.remove(longest)
        order.insert(0, longest)
    return order


def batches(order: Sequence[int], size: int) -> list[list[int]]:
    """Consecutive groups of `size`; the last may be smaller."""
    return [list(order[start : start + size]) for start in range(0, len(order), size)]
