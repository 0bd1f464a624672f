"""Whether windows of some length are faster in one pass than one after another: measured while they are trained."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from imprint_trainer.memory_model import Device

PASS_TOKENS: dict[Device, int] = {"cpu": 512, "cuda": 4096}  # most that share a pass
ROUNDS = 3  # measured of each way before one is chosen, the first of them to warm up

Part = TypeVar("Part")


def passes_of(parts: Sequence[Part], length_of: Callable[[Part], int], limit: int) -> list[list[Part]]:
    """In their order, as many in a pass as `limit` tokens allow; what is longer has one of its own."""
    passes: list[list[Part]] = []
    room = 0
    for part in parts:
        length = length_of(part)
        if length > room:
            passes.append([])
            room = limit
        passes[-1].append(part)
        room -= length
    return passes


@dataclass
class Choice:
    """By the length of windows, to a power of two: each way in turn until both are measured, then the faster one."""

    clock: Callable[[], float] = time.perf_counter
    _seconds: dict[tuple[int, bool], list[float]] = field(default_factory=lambda: defaultdict(list))  # of a token

    def together(self, windows: int, tokens: int) -> bool:
        size = size_of(windows, tokens)
        alone, shared = self._seconds[size, False], self._seconds[size, True]
        if len(alone) < ROUNDS or len(shared) < ROUNDS:
            return len(shared) <= len(alone)
        return min(shared[1:]) < min(alone[1:])

    @contextmanager
    def measured(self, windows: int, tokens: int, *, together: bool) -> Iterator[None]:
        began = self.clock()
        yield
        seconds = self._seconds[size_of(windows, tokens), together]
        if len(seconds) < ROUNDS:
            seconds.append((self.clock() - began) / tokens)


def size_of(windows: int, tokens: int) -> int:
    return (tokens // windows).bit_length()
