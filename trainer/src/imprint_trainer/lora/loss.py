"""Loss on supervised tokens only: logits are made nowhere else."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from imprint_trainer.data.windows import Window
from imprint_trainer.lora.kernels import HeadCrossEntropy
from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.models.head import OutputHead, decoder_of, output_head
from imprint_trainer.models.memory_model import HEAD_CHUNK

One = TypeVar("One")
Read = Callable[[CausalLM, Tensor], Tensor]  # a model and ids [1, n] -> the hidden states [1, n, d] that the head reads


def window_tensors(window: Window, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Inputs [1, n], positions that predict a supervised token [s], and those tokens [s]; nothing after them."""
    targets = window.targets
    # Copied while a card still computes the window before
    ids = torch.tensor(window.input_ids).to(device, non_blocking=True)
    chosen = torch.tensor(targets, dtype=torch.long).to(device, non_blocking=True)
    return ids[: targets[-1]].unsqueeze(0), chosen - 1, ids[chosen]


def chunk_of(hidden: Tensor) -> int:
    """Supervised positions whose logits exist at one time."""
    return HEAD_CHUNK["cuda" if hidden.is_cuda else "cpu"]


def read_whole(model: CausalLM, inputs: Tensor) -> Tensor:
    hidden: Tensor = decoder_of(model)(input_ids=inputs, use_cache=False).last_hidden_state
    return hidden


def loss_sum(model: CausalLM, window: Window, device: torch.device, read: Read = read_whole) -> Tensor:
    """Summed cross-entropy (nats) over the window's supervised tokens, fp32."""
    inputs, positions, targets = window_tensors(window, device)
    hidden = read(model, inputs)[0]  # [n, d]
    return chunked_cross_entropy(hidden.index_select(0, positions), output_head(model), targets)


def chunked_cross_entropy(hidden: Tensor, head: OutputHead, targets: Tensor) -> Tensor:
    """Sum over [s] targets of hidden [s, d]; only a chunk's logits exist at one time."""
    return cross_entropies(hidden, head, targets).sum()


def cross_entropies(hidden: Tensor, head: OutputHead, targets: Tensor) -> Tensor:
    """Of each of [s] targets, fp32; only a chunk's logits exist at one time."""
    if hidden.requires_grad and head.softcap is None and head.linear.bias is None:
        return HeadCrossEntropy.apply(hidden, head.linear.weight, head.scale, targets, chunk_of(hidden))  # type: ignore[no-any-return]

    def chunk(part: Tensor, wanted: Tensor) -> Tensor:
        return F.cross_entropy(head.logits(part), wanted, reduction="none")

    size = chunk_of(hidden)
    parts = zip(torch.split(hidden, size), torch.split(targets, size), strict=True)
    return torch.cat(
        [
            checkpoint(chunk, part, wanted, use_reentrant=False) if part.requires_grad else chunk(part, wanted)
            for part, wanted in parts
        ]
    ).float()


def supervised_logits(
    model: CausalLM, window: Window, device: torch.device, read: Read = read_whole
) -> Iterator[tuple[Tensor, Tensor]]:
    """Logits [c, vocabulary] and targets [c] of a window, a chunk at a time, in order; none where it has no target."""
    if not window.supervised_count:
        return
    inputs, positions, targets = window_tensors(window, device)
    hidden, head = read(model, inputs)[0].index_select(0, positions), output_head(model)
    size = chunk_of(hidden)
    for part, wanted in zip(torch.split(hidden, size), torch.split(targets, size), strict=True):
        yield head.logits(part), wanted


@torch.no_grad()
def token_losses(
    model: CausalLM, window: Window, device: torch.device, read: Read = read_whole
) -> tuple[Tensor, Tensor]:
    """Nats [s] in fp64 and whether the likeliest token is the right one [s], for the window's targets in order.

    Only a chunk's logits exist at one time.
    """
    losses, hits = [torch.zeros(0, dtype=torch.float64)], [torch.zeros(0, dtype=torch.bool)]
    for logits, wanted in supervised_logits(model, window, device, read):
        losses.append(F.cross_entropy(logits, wanted, reduction="none").double().cpu())
        hits.append((logits.argmax(-1) == wanted).cpu())
    return torch.cat(losses), torch.cat(hits)


@torch.no_grad()
def mean_loss(model: CausalLM, windows: Iterable[Window], device: torch.device, read: Read = read_whole) -> float:
    """Mean over all supervised tokens of all windows, nats per token."""
    total, count = 0.0, 0
    for window in windows:
        if window.supervised_count:
            total += float(loss_sum(model, window, device, read))
            count += window.supervised_count
    return total / max(1, count)


def interruptible(every: Iterable[One], stop: Callable[[], None]) -> Iterator[One]:
    """Windows, or sessions; `stop` is asked before each one, and raises Cancelled."""
    for one in every:
        stop()
        yield one
