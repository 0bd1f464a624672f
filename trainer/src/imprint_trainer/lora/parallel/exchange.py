"""Factors to all processes, gradients to the first: gloo on a CPU, NCCL on cards, over the loopback interface alone."""

import os
import sys
from collections.abc import Sequence
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor
from torch._C._distributed_c10d import FileStore

PATIENCE = timedelta(minutes=5)  # all are asked on their pipes first: nobody waits here for a member that computes
LOOPBACK = "lo0" if sys.platform == "darwin" else "lo"


def meet(store: str, *, number: int, processes: int, device: torch.device) -> None:
    """Waits for all of them. `store`: a file that they meet at, in a folder of their user's own."""
    for name in ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"):
        os.environ[name] = LOOPBACK
    dist.init_process_group(
        "nccl" if device.type == "cuda" else "gloo",
        store=FileStore(store, processes),
        rank=number,
        world_size=processes,
        timeout=PATIENCE,
    )


def leave() -> None:
    if dist.is_initialized():
        dist.destroy_process_group()


class Exchange:
    """`number` 0 is the first process. The parameters are the same, in the same order, in each."""

    def __init__(self, parameters: Sequence[Tensor], *, number: int) -> None:
        self._parameters = parameters
        self._number = number
        self._flat = torch.zeros(sum(p.numel() for p in parameters), device=parameters[0].device)

    @torch.no_grad()
    def share_factors(self) -> None:
        """The first process's, into everybody's parameters."""
        if self._number == 0:
            self._gather([p.detach() for p in self._parameters])
        dist.broadcast(self._flat, src=0)
        if self._number != 0:
            for parameter, part in self._parts():
                parameter.copy_(part)

    @torch.no_grad()
    def sum_gradients(self) -> None:
        """Everybody's, into those of the first process's parameters. One that has no gradient anywhere keeps none:
        AdamW has no state for it then."""
        self._gather([torch.zeros_like(p) if p.grad is None else p.grad for p in self._parameters])
        dist.reduce(self._flat, dst=0, op=dist.ReduceOp.SUM)
        if self._number == 0:
            for parameter, part in self._parts():
                if parameter.grad is not None:
                    parameter.grad.copy_(part)
                elif bool(part.any()):
                    parameter.grad = part.clone()

    def _gather(self, tensors: Sequence[Tensor]) -> None:
        torch.cat([tensor.flatten() for tensor in tensors], out=self._flat)

    def _parts(self) -> list[tuple[Tensor, Tensor]]:
        pieces = torch.split(self._flat, [p.numel() for p in self._parameters])
        return [(p, piece.view_as(p)) for p, piece in zip(self._parameters, pieces, strict=True)]
