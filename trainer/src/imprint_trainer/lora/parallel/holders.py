"""A base that the processes of a group hold together, as the first one has it (docs/adr/0040)."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor

from imprint_trainer.lora.gradients import Stop
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.models.output_head import check_output_head
from imprint_trainer.models.sharded.blocks import ShardedBlocks
from imprint_trainer.models.sharded.load import load_sharded

from .exchange import leave
from .members import Launch, Members, started
from .messages import Gather, Hold, Loaded
from .process import MemberProcess


def gather(_: int, part: Tensor, whole: Tensor) -> None:
    dist.all_gather_into_tensor(whole.view(-1), part)


class Holders:
    """While a step is computed all processes run blocks in the same order, and need no word. At all other times the
    first one runs what it likes, and the others hand it each block that it asks for."""

    def __init__(self, members: Members) -> None:
        self.members = members
        self._blocks: ShardedBlocks | None = None
        self._in_step = False

    def load(self, path_or_hub_id: str, *, device: torch.device, stop: Stop, digests: Path | None) -> LoadedBase:
        """Raises what loading raises here or there, and Cancelled."""
        base, self._blocks = load_sharded(
            path_or_hub_id,
            number=0,
            processes=self.members.processes,
            device=device,
            gather=self._gather,
            digests=digests,
        )
        self.members.hear(Loaded, stop)
        self.members.meet(device)
        check_output_head(base.model, Path(path_or_hub_id).name)
        return base

    @contextmanager
    def in_step(self) -> Iterator[None]:
        assert self._blocks is not None
        self._in_step = True
        try:
            yield
            self._blocks.require_in_step()
        finally:
            self._in_step = False

    def serve(self, passes: int, stop: Stop) -> None:
        """While others have more windows."""
        assert self._blocks is not None
        for _ in range(passes):
            stop()
            self._blocks.serve_pass()

    def _gather(self, index: int, part: Tensor, whole: Tensor) -> None:
        if not self._in_step:
            self.members.tell(Gather(block=index))
        with self.members.deaths_told():
            gather(index, part, whole)


@contextmanager
def holders_of(
    path_or_hub_id: str,
    *,
    processes: int,
    device: torch.device,
    threads: int,
    stop: Stop,
    digests: Path | None = None,
    launch: Launch = MemberProcess,
    address: str | None = None,
    on_each_node: int | None = None,
) -> Iterator[tuple[Holders, LoadedBase]]:
    """Members that hold their parts until this ends. `address`: as `started` has it.
    Raises what loading raises, here or there, and Cancelled."""
    with started(processes, launch, address) as members, ExitStack() as ending:
        for member in members:
            member.tell(
                Hold(
                    number=member.number,
                    processes=processes,
                    store=members.store,
                    base_model=path_or_hub_id,
                    device=f"cuda:{member.number % (on_each_node or processes)}" if device.type == "cuda" else "cpu",
                    threads=threads,
                )
            )
        ending.callback(leave)
        holders = Holders(members)
        yield holders, holders.load(path_or_hub_id, device=device, stop=stop, digests=digests)
