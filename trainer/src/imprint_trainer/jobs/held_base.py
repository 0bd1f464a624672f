"""The base of a training whose processes hold it together: loaded when it is asked for, gone with the training."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import torch

from imprint_trainer.jobs.context import JobContext
from imprint_trainer.lora.parallel.holders import Holders, holders_of
from imprint_trainer.lora.parallel.nodes import launch_of
from imprint_trainer.memory_model import Quantization
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.models.device import pick_device
from imprint_trainer.protocol import TrainLoraSpec


class HeldBase:
    """Takes the place of a context's `base`."""

    def __init__(
        self, context: JobContext, ending: ExitStack, let_go: Callable[[], None], digests: Path | None
    ) -> None:
        self._context = context
        self._ending = ending
        self._let_go = let_go
        self._digests = digests
        self._held: tuple[Holders, LoadedBase] | None = None

    @property
    def holders(self) -> Holders:
        assert self._held is not None
        return self._held[0]

    def __call__(
        self, path_or_hub_id: str, quantization: Quantization, *, dequantised: bool | None = None
    ) -> LoadedBase:
        """Raises what loading raises, here or in a member, and Cancelled."""
        assert quantization == "none" and not dequantised and self._held is None
        self._let_go()
        shards, nodes = self._context.shards, self._context.node_count
        launch, address = launch_of(self._context.nodes)
        self._held = self._ending.enter_context(
            holders_of(
                path_or_hub_id,
                processes=shards,
                device=pick_device(self._context.device),
                threads=max(1, torch.get_num_threads() * nodes // shards),
                stop=self._context.stop_if_cancelled,
                digests=self._digests,
                launch=launch,
                address=address,
                on_each_node=self._context.on_each_node,
            )
        )
        return self._held[1]


@contextmanager
def held_together(
    spec: TrainLoraSpec, context: JobContext, *, let_go: Callable[[], None], digests: Path | None
) -> Iterator[JobContext]:
    """The context of a training on a base that its processes hold together; where it is not to be, the same context.
    `let_go`: drops the base that is resident."""
    shards = shards_of(spec.quantization, context.shards)
    if shards == 1:
        yield replace(context, shards=1)
        return
    with ExitStack() as ending:
        held = HeldBase(context, ending, let_go, digests)
        yield replace(context, base=held, held=held)


def shards_of(quantization: Quantization, shards: int) -> int:
    """An NF4 base is a quarter of the size, and each process has it whole."""
    return shards if quantization == "none" else 1
