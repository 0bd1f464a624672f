"""A decoder's blocks, of whose frozen weights this process holds an equal part and gathers a block when it is run."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from imprint_trainer.errors import BaseModelUnsupported

ALIGNED = 64  # bytes: what vector units like to read
Gather = Callable[[int, Tensor, Tensor], None]  # a block's number and this process's part of it, into the whole


@dataclass(frozen=True)
class Piece:
    """A weight, at so many bytes of its block."""

    module: nn.Module
    name: str  # in the module
    key: str  # in the model's files
    shape: torch.Size
    dtype: torch.dtype
    offset: int

    @property
    def bytes(self) -> int:
        return self.shape.numel() * self.dtype.itemsize


class ShardedBlock:
    """`part` is this process's. It begins with the block's number, by which all know that they gathered the same."""

    def __init__(
        self, block: nn.Module, prefix: str, index: int, *, number: int, processes: int, dtype: torch.dtype, device: Any
    ) -> None:
        self.block = block
        self.index = index
        self.pieces: list[Piece] = []
        end = 0
        for key, parameter in block.named_parameters():
            owner, _, name = key.rpartition(".")
            piece = Piece(block.get_submodule(owner), name, f"{prefix}.{key}", parameter.shape, dtype, end)
            end += aligned(piece.bytes)
            self.pieces.append(piece)
        self.share = aligned(-(-end // processes))  # bytes of the weights that each process holds
        self._start = number * self.share
        self.part = torch.zeros(ALIGNED + self.share, dtype=torch.uint8, device=device)
        self.part[:8].view(torch.int64).fill_(index)
        self.processes = processes
        # Numbers that are no numbers: what reads them unasked fails instead of being wrong.
        nothing = torch.full((1,), torch.nan, dtype=dtype, device=device)
        self._absent = [nn.Parameter(nothing.expand(piece.shape), requires_grad=False) for piece in self.pieces]
        self.release()

    def wants(self, piece: Piece) -> bool:
        """Whether any of it is held here."""
        return piece.offset < self._start + self.share and piece.offset + piece.bytes > self._start

    def keep(self, piece: Piece, weight: Tensor) -> None:
        """What of a whole weight is held here."""
        data = weight.to(piece.dtype).contiguous().flatten().view(torch.uint8)
        first, last = max(self._start, piece.offset), min(self._start + self.share, piece.offset + piece.bytes)
        if first < last:
            held = self.part[ALIGNED:][first - self._start : last - self._start]
            held.copy_(data[first - piece.offset : last - piece.offset])

    def fill(self, whole: Tensor) -> None:
        """`whole`: the parts of all processes, [processes, ALIGNED + share]. Whatever autograd keeps of the weights
        keeps it after `release`: they are tensors of their own each time."""
        weights = whole[:, ALIGNED:].reshape(-1)
        for piece in self.pieces:
            data = weights[piece.offset : piece.offset + piece.bytes].view(piece.dtype).view(piece.shape)
            piece.module._parameters[piece.name] = nn.Parameter(data, requires_grad=False)

    def release(self) -> None:
        for piece, absent in zip(self.pieces, self._absent, strict=True):
            piece.module._parameters[piece.name] = absent


class ShardedBlocks:
    """`gather` is a collective: every process calls it for the same blocks in the same order."""

    def __init__(self, blocks: list[ShardedBlock], gather: Gather) -> None:
        self._blocks = blocks
        self._gather = gather
        self._out_of_step = torch.zeros((), dtype=torch.bool, device=blocks[0].part.device)
        for one in blocks:
            one.block.forward = partial(self._run, one, one.block.forward)

    def __len__(self) -> int:
        return len(self._blocks)

    @property
    def held_bytes(self) -> int:
        return sum(block.part.numel() for block in self._blocks)

    def part(self, index: int) -> Tensor:
        return self._blocks[index].part

    def gathered(self, index: int) -> Tensor:
        block = self._blocks[index]
        whole = torch.empty(block.processes, block.part.numel(), dtype=torch.uint8, device=block.part.device)
        self._gather(index, block.part, whole)
        self._out_of_step |= (whole[:, :8].contiguous().view(torch.int64) != index).any()
        return whole

    def serve_pass(self) -> None:
        """Takes part in the forward and backward pass of another process's window, and computes nothing."""
        for index in range(len(self._blocks)):
            self.gathered(index)
        for index in reversed(range(self._lowest_trained(), len(self._blocks))):
            self.gathered(index)

    def require_in_step(self) -> None:
        """Raises AssertionError where processes gathered different blocks at one time: a fault of the trainer."""
        assert not bool(self._out_of_step), "processes gathered different blocks"

    def _lowest_trained(self) -> int:
        """Below it nothing takes a gradient, and no block is run again."""
        trained = [
            block.index for block in self._blocks if any(weight.requires_grad for weight in block.block.parameters())
        ]
        return min(trained, default=len(self._blocks))

    def _run(self, block: ShardedBlock, forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """What is trained is gathered and run again in the backward pass (arXiv 1604.06174): what that keeps would be
        whole weights."""
        whole = partial(self._run_whole, block, forward)
        if torch.is_grad_enabled() and block.block.training:
            return checkpoint(whole, *args, use_reentrant=False, **kwargs)
        return whole(*args, **kwargs)

    def _run_whole(self, block: ShardedBlock, forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        block.fill(self.gathered(block.index))
        try:
            return forward(*args, **kwargs)
        finally:
            block.release()


def aligned(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED


def blocks_of(model: Any, name: str) -> list[tuple[str, nn.Module]]:
    """Each with its name in the model. Raises BaseModelUnsupported where it is no stack of them."""
    layers = getattr(model.get_decoder(), "layers", None)
    names = {module: found for found, module in model.named_modules()}
    if not isinstance(layers, nn.ModuleList):
        raise BaseModelUnsupported(
            f"{name} is a {type(model).__name__}, which cannot be sharded: it is no stack of blocks. "
            "Start the service without --shard-base."
        )
    return [(names[layer], layer) for layer in layers]
