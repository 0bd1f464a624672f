"""The others as the first process has them: told, heard, and never waited for in vain."""

import queue
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NoReturn, Protocol, TypeVar

import torch
from torch._C._distributed_c10d import Store

from imprint_trainer.lora.gradients import Stop

from .exchange import meet, meeting_place
from .messages import Answer, Failed, Loaded, Losses, Order

LISTEN_SECONDS = 0.1  # between two looks at whether the job was cancelled
DEATH_SECONDS = 5.0  # after an exchange broke, for the news of who died

Expected = TypeVar("Expected", Loaded, Losses)


class Member(Protocol):
    """A process that is not the first, wherever it runs. Its answers, and None as its last, go to the news that it was
    started with; it ends when this process does."""

    @property
    def number(self) -> int: ...

    def tell(self, order: Order) -> None:
        """One that is gone is heard of by its end."""

    def raise_failure(self, failed: Failed) -> NoReturn:
        """As the error that it was there."""

    def raise_end(self) -> NoReturn:
        """Why it is gone. Raises WorkerCrashed."""

    def close(self) -> None:
        """Gone when this returns."""


News = tuple[Member, Answer | None]
Launch = Callable[[int, int, "queue.SimpleQueue[News]"], Member]  # its number, of how many processes


class Members:
    def __init__(self, members: Sequence[Member], news: "queue.SimpleQueue[News]", store: str, place: Store) -> None:
        self._members = members
        self._news = news
        self._place = place
        self.store = store  # where all meet

    def __iter__(self) -> Iterator[Member]:
        return iter(self._members)

    @property
    def processes(self) -> int:
        return len(self._members) + 1

    def tell(self, order: Order) -> None:
        for member in self._members:
            member.tell(order)

    def meet(self, device: torch.device) -> None:
        with self.deaths_told():
            meet(self.store, number=0, processes=self.processes, device=device, own=self._place)

    def hear(self, expected: type[Expected], stop: Stop) -> dict[int, Expected]:
        """An answer of each member, by its number. Raises Cancelled, and what a member failed with."""
        found: dict[int, Expected] = {}
        while len(found) < len(self._members):
            stop()
            try:
                member, answer = self._news.get(timeout=LISTEN_SECONDS)
            except queue.Empty:
                continue
            if answer is None or isinstance(answer, Failed):
                raise_end(member, answer)
            assert isinstance(answer, expected)
            found[member.number] = answer
        return found

    @contextmanager
    def deaths_told(self) -> Iterator[None]:
        """An exchange that breaks is explained by the member that broke it."""
        try:
            yield
        except RuntimeError as broken:
            try:
                member, answer = self._news.get(timeout=DEATH_SECONDS)
                while isinstance(answer, Loaded | Losses):
                    member, answer = self._news.get(timeout=DEATH_SECONDS)
            except queue.Empty:
                raise broken from None
            raise_end(member, answer)


def raise_end(member: Member, answer: Failed | None) -> NoReturn:
    if isinstance(answer, Failed):
        member.raise_failure(answer)
    member.raise_end()


@contextmanager
def started(processes: int, launch: Launch, address: str | None = None) -> Iterator[Members]:
    """Members that are gone when this ends. `address`: of this machine, where some of them are on others."""
    news: queue.SimpleQueue[News] = queue.SimpleQueue()
    with ExitStack() as ending:
        file = Path(ending.enter_context(tempfile.TemporaryDirectory(prefix="imprint-"))) / "store"
        store, place = meeting_place(str(file), address=address, processes=processes)
        members = []
        for number in range(1, processes):
            members.append(launch(number, processes, news))
            ending.callback(members[-1].close)
        yield Members(members, news, store, place)
