"""The first process's side of a step: members are told their shares, and what they computed is added."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext

import torch

from imprint_trainer.data.windows import Window
from imprint_trainer.lora.gradients import Stop, add_gradients
from imprint_trainer.lora.schedule import WindowBatch
from imprint_trainer.models.causal_lm import CausalLM

from .exchange import Exchange, leave
from .holders import Holders
from .members import Launch, Members, started
from .messages import Loaded, Losses, Setup, Share
from .process import MemberProcess
from .shares import shares


class Group:
    """This process and its members, who have met. `holders`: where they hold the base together."""

    def __init__(
        self,
        model: CausalLM,
        windows: Sequence[Window],
        members: Members,
        *,
        threads: int,
        holders: Holders | None = None,
    ) -> None:
        self._model = model
        self._windows = windows
        self._members = members
        self._threads = threads
        self._holders = holders
        self._parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self._exchange = Exchange(self._parameters, number=0)

    def add_gradients(self, batch: WindowBatch, stop: Stop) -> list[float]:
        """As `lora.gradients.add_gradients` of all windows of the batch does, in its order, to rounding."""
        mine, *others = shares(
            [len(self._windows[index].input_ids) for index in batch.windows], self._members.processes
        )
        passes = max(len(share) for share in (mine, *others))
        for member, share in zip(self._members, others, strict=True):
            chosen = [batch.windows[position] for position in share]
            member.tell(Share(windows=chosen, supervised=batch.supervised, passes=passes))
        device = self._parameters[0].device
        in_step = nullcontext() if self._holders is None else self._holders.in_step()
        threads = self._threads if any(others) else torch.get_num_threads()  # what nobody else computes with
        with self._members.deaths_told(), fewer_threads(threads), in_step:
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
            if self._holders is not None:
                self._holders.serve(passes - len(mine), stop)
            heard = self._members.hear(Losses, stop)
            for member, share in zip(self._members, others, strict=True):
                losses |= zip(share, heard[member.number].losses, strict=True)
            self._exchange.sum_gradients()
        return [losses[position] for position in range(len(batch.windows))]


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
    model: CausalLM,
    windows: Sequence[Window],
    setup: Callable[[int, str], Setup],
    *,
    processes: int,
    stop: Stop,
    launch: Launch = MemberProcess,
    address: str | None = None,
) -> Iterator[Group]:
    """Members that have loaded what `setup` (of a member's number and where all meet) says. They are gone when this
    ends. `address`: as `started` has it. Raises Cancelled from `stop`, and what a member failed with."""
    with started(processes, launch, address) as members, ExitStack() as ending:
        setups = [setup(member.number, members.store) for member in members]
        for member, one in zip(members, setups, strict=True):
            member.tell(one)
        ending.callback(leave)
        members.hear(Loaded, stop)
        members.meet(next(model.parameters()).device)
        yield Group(model, windows, members, threads=setups[0].threads)


def group_of_holders(
    holders: Holders, model: CausalLM, windows: Sequence[Window], setup: Callable[[int, str], Setup], *, stop: Stop
) -> Group:
    """Those who hold the base take part in its training too. Raises as `group_of` does."""
    setups = [setup(member.number, holders.members.store) for member in holders.members]
    for member, one in zip(holders.members, setups, strict=True):
        member.tell(one)
    holders.members.hear(Loaded, stop)
    return Group(model, windows, holders.members, threads=setups[0].threads, holders=holders)
