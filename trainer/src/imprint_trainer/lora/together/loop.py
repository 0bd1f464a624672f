"""Trainings that go on side by side on one base: each has it while it does anything but gradients."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

from imprint_trainer.data.windows import Window
from imprint_trainer.lora.gradients import add_gradients
from imprint_trainer.lora.loop import Stepwise, Wanted

from .attention import keeps_windows_apart
from .choice import Choice, passes_of
from .passes import Share, add_gradients_together
from .seat import Seat

Name = TypeVar("Name")
Given = TypeVar("Given")
Part = tuple["Going[Any]", Window]


@dataclass(eq=False)  # each is itself: a key of what is found for it
class Going(Generic[Name]):
    """A training that waits for the gradients of a step."""

    name: Name
    run: Stepwise[Any]
    wanted: Wanted
    seat: Seat

    @property
    def windows(self) -> list[Window]:
        return [self.wanted.windows[index] for index in self.wanted.batch.windows]


class Together(Generic[Name]):
    """`ended` is told each training's result, or what it failed with; nothing of it is on the base then."""

    def __init__(self, ended: Callable[[Name, Any], None], *, limit: int, choice: Choice) -> None:
        self._ended = ended
        self._limit = limit  # tokens of a pass
        self._choice = choice
        self._going: list[Going[Name]] = []

    def __len__(self) -> int:
        return len(self._going)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self, name: Name, run: Stepwise[Any]) -> None:
        """Up to its first step, or its end."""
        try:
            wanted = next(run)
        except (Exception, StopIteration) as end:
            self._tell(name, end)
        else:
            seat = Seat(wanted.model)
            seat.leave()
            self._going.append(Going(name, run, wanted, seat))

    def step(self) -> None:
        """One step of each."""
        self._stop_cancelled()
        try:
            sums = self._gradients()
        except Exception as error:  # of no training alone: memory that ran out, for one
            for going in list(self._going):
                self._resume(going, going.run.throw, error)
            return
        for going, found in zip(list(self._going), sums, strict=True):
            self._resume(going, going.run.send, found)

    def close(self) -> None:
        """Ends what goes on, and tells of nothing."""
        for going in self._going:
            going.seat.take()
            going.run.close()
        self._going.clear()

    def _stop_cancelled(self) -> None:
        for going in list(self._going):
            try:
                if not going.wanted.cancelled():
                    continue
                going.seat.take()
                going.wanted.stop()  # keeps a checkpoint first
                going.seat.leave()
            except Exception as stopped:  # Cancelled, and whatever goes wrong meanwhile
                self._resume(going, going.run.throw, stopped)

    def _resume(self, going: Going[Name], how: Callable[[Given], Wanted], given: Given) -> None:
        going.seat.take()
        try:
            going.wanted = how(given)
        except (Exception, StopIteration) as end:
            self._going.remove(going)
            self._tell(going.name, end)
        else:
            going.seat.leave()

    def _tell(self, name: Name, end: Exception) -> None:
        self._ended(name, end.value if isinstance(end, StopIteration) else end)

    def _gradients(self) -> list[list[float]]:
        """The loss sums that each is sent."""
        found: dict[Going[Any], list[float]] = defaultdict(list)
        for parts in self._passes():
            for going, sums in self._pass(parts):
                found[going] += sums
        return [found[going] for going in self._going]

    def _pass(self, parts: list[Part]) -> list[tuple[Going[Any], list[float]]]:
        if len(parts) == 1:
            return one_by_one(parts)
        tokens = sum(len(window.input_ids) for _, window in parts)
        together = self._choice.together(len(parts), tokens)
        with self._choice.measured(len(parts), tokens, together=together):
            return shared(parts) if together else one_by_one(parts)

    def _passes(self) -> list[list[Part]]:
        """Those of adapters on the same layers side by side."""
        kinds: dict[Any, list[Part]] = defaultdict(list)
        for going in self._going:
            kind = tuple(going.seat.layers) if keeps_windows_apart(going.seat.base) else going
            kinds[kind] += [(going, window) for window in going.windows]
        limit = self._limit
        return [one for parts in kinds.values() for one in passes_of(parts, lambda part: len(part[1].input_ids), limit)]


def one_by_one(parts: Sequence[Part]) -> list[tuple[Going[Any], list[float]]]:
    found = []
    for going, window in parts:
        going.seat.take()
        going.wanted.model.train()
        sums = add_gradients(
            going.wanted.model, [window], supervised=going.wanted.batch.supervised, device=going.wanted.device
        )
        going.seat.leave()
        found.append((going, sums))
    return found


def shared(parts: Sequence[Part]) -> list[tuple[Going[Any], list[float]]]:
    windows: dict[Going[Any], list[Window]] = defaultdict(list)
    for going, window in parts:
        windows[going].append(window)
    shares = [Share(going.seat, mine, going.wanted.batch.supervised) for going, mine in windows.items()]
    first, _ = parts[0]
    sums = add_gradients_together(first.seat.base, shares, first.wanted.device)
    return list(zip(windows, sums, strict=True))
