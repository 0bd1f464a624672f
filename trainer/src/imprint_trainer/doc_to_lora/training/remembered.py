"""Keys and values of questions that the frozen base model has read, for as long as there is memory for them."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

import torch
from torch import Tensor

from imprint_trainer.available_memory import available_bytes

SHARE = 0.4  # of the memory that is free once the base model is loaded; the steps need some, too

Pairs = list[tuple[Tensor, Tensor]]  # keys and values of each layer, [heads, S, d]


def room_for_questions(device: torch.device) -> int:
    """Bytes, of the memory that the device computes in."""
    free = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else available_bytes()
    return int(SHARE * free)


class RememberedQuestions:
    """By their ids. The ones that were not asked for longest are forgotten once all take more than `room` bytes.

    Threads may share it: two that ask for the same new question at once both read it.
    """

    def __init__(self, room: int) -> None:
        self.bytes = 0
        self._room = room
        self._pairs: OrderedDict[tuple[int, ...], Pairs] = OrderedDict()
        self._changing = Lock()

    def pairs(self, ids: list[int], read: Callable[[list[int]], Pairs]) -> Pairs:
        """Those of the question `ids`, which is `read` unless it is remembered."""
        key = tuple(ids)
        pairs = self._pairs.get(key)
        if pairs is None:
            pairs = read(ids)
        with self._changing:
            if key not in self._pairs:
                self._pairs[key] = pairs
                self.bytes += size_of(pairs)
            self._pairs.move_to_end(key)
            while self.bytes > self._room:
                self.bytes -= size_of(self._pairs.popitem(last=False)[1])
        return pairs


def size_of(pairs: Pairs) -> int:
    return sum(side.nbytes for pair in pairs for side in pair)
