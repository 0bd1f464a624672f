"""Factors to all processes, gradients to the first: gloo on a CPU, NCCL on cards, over the loopback interface alone,
or over the network between nodes."""

import os
import socket
import sys
from collections.abc import Sequence
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor
from torch._C._distributed_c10d import FileStore, Store, TCPStore

PATIENCE = timedelta(minutes=5)  # all are asked on their pipes first: nobody waits here for a member that computes
TCP = "tcp://"
LOOPBACK = "lo0" if sys.platform == "darwin" else "lo"


def meeting_place(store: str, *, address: str | None, processes: int) -> tuple[str, Store]:
    """Where all meet, and what the first process has there: a file in a folder of the user's own; where some are on
    other nodes, a port of this one, which has the address."""
    if address is None:
        return store, FileStore(store, processes)
    own = TCPStore(address, 0, processes, True, timeout=PATIENCE, wait_for_workers=False)
    return f"{TCP}{address}:{own.port}", own


def meet(place: str, *, number: int, processes: int, device: torch.device, own: Store | None = None) -> None:
    """Waits for all of them. `own`: the first one's, of `meeting_place`."""
    host, port = (None, 0) if not place.startswith(TCP) else address_of(place)
    for name in ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"):
        os.environ[name] = LOOPBACK if host is None else interface_of(host)
    if own is None:
        own = FileStore(place, processes) if host is None else TCPStore(host, port, processes, False, timeout=PATIENCE)
    dist.init_process_group(
        "nccl" if device.type == "cuda" else "gloo", store=own, rank=number, world_size=processes, timeout=PATIENCE
    )


def address_of(place: str) -> tuple[str, int]:
    host, _, port = place.removeprefix(TCP).rpartition(":")
    return host, int(port)


def interface_of(address: str) -> str:
    """The network interface of this machine that reaches `address`. Raises OSError."""
    import psutil

    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((address, 9))  # nothing is sent
        own = probe.getsockname()[0]
    for name, addresses in psutil.net_if_addrs().items():
        if any(one.address.split("%")[0] == own for one in addresses):
            return str(name)
    raise OSError(f"no network interface has the address {own}")


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
