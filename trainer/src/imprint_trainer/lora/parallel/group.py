"""The first process's side: members are started, told their shares, and never waited for in vain."""

import queue
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NoReturn, TypeVar

import torch

from imprint_trainer.data.windows import Window
from imprint_trainer.lora.gradients import Stop, add_gradients
from imprint_trainer.lora.schedule import WindowBatch
from imprint_trainer.models.causal_lm import CausalLM

from .exchange import Exchange
from .messages import Failed, Loaded, Losses, Setup, Share
from .process import MemberProcess, News
from .shares import shares

LISTEN_SECONDS = 0.1  # between two looks at whether the job was cancelled
DEATH_SECONDS = 5.0  # after an exchange broke, for the news of who died

Expected = TypeVar("Expected", Loaded, Losses)


class Group:
    """This process and its members, which have loaded the base."""

    def __init__(
        self,
        model: CausalLM,
        windows: Sequence[Window],
        members: Sequence[MemberProcess],
        news: "queue.SimpleQueue[News]",
        *,
        threads: int,
    ) -> None:
        self._model = model
        self._windows = windows
        self._members = members
        self._news = news
        self._threads = threads
        self._parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self._exchange: Exchange | None = None

    def join(self, store: Path, stop: Stop) -> None:
        self._hear(Loaded, stop)
        with self._deaths_told():
            self._exchange = Exchange.join(self._parameters, store=store, number=0, processes=len(self._members) + 1)

    def leave(self) -> None:
        if self._exchange is not None:
            self._exchange.leave()

    def add_gradients(self, batch: WindowBatch, stop: Stop) -> list[float]:
        """As `lora.gradients.add_gradients` of all windows of the batch does, in its order, to rounding."""
        assert self._exchange is not None
        mine, *others = shares([len(self._windows[index].input_ids) for index in batch.windows], len(self._members) + 1)
        for member, share in zip(self._members, others, strict=True):
            chosen = [batch.windows[position] for position in share]
            member.tell(Share(windows=chosen, supervised=batch.supervised))
        device = self._parameters[0].device
        with self._deaths_told(), fewer_threads(self._threads):
            self._exchange.share_factors()
            chosen_here = [self._windows[batch.windows[position]] for position in mine]
            losses = dict(
                zip(
                    mine,
                    add_gradients(
                        self._model, chosen_here, supervised=batch.supervised, device=device, before_each=stop
                    ),
                    strict=True,
                )
            )
            heard = self._hear(Losses, stop)
            for member, share in zip(self._members, others, strict=True):
                losses |= zip(share, heard[member.number].losses, strict=True)
            self._exchange.sum_gradients()
        return [losses[position] for position in range(len(batch.windows))]

    def _hear(self, expected: type[Expected], stop: Stop) -> dict[int, Expected]:
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
    def _deaths_told(self) -> Iterator[None]:
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


def raise_end(member: MemberProcess, answer: Failed | None) -> NoReturn:
    if isinstance(answer, Failed):
        member.raise_failure(answer)
    member.raise_end()


@contextmanager
def fewer_threads(threads: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def group_of(
    model: CausalLM, windows: Sequence[Window], setup: Callable[[int, str], Setup], *, processes: int, stop: Stop
) -> Iterator[Group]:
    """Members that have loaded what `setup` (of a member's number and the file to meet at) says. They are gone when
    this ends. Raises Cancelled from `stop`, and what a member failed with."""
    news: queue.SimpleQueue[News] = queue.SimpleQueue()
    with ExitStack() as ending:
        store = Path(ending.enter_context(tempfile.TemporaryDirectory(prefix="imprint-"))) / "store"
        members = [MemberProcess(number, processes, news) for number in range(1, processes)]
        for member in members:
            ending.callback(member.close)
        setups = [setup(member.number, str(store)) for member in members]
        for member, one in zip(members, setups, strict=True):
            member.tell(one)
        group = Group(model, windows, members, news, threads=setups[0].threads)
        ending.callback(group.leave)
        group.join(store, stop)
        yield group
