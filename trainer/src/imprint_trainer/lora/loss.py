"""Loss on supervised tokens only: logits are made nowhere else."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from imprint_trainer.data.windows import Window
from imprint_trainer.models.sections import decoder_of

from .kernels import HeadCrossEntropy

CHUNK = 128  # supervised positions whose logits exist at one time

Read = Callable[[Any, Tensor], Tensor]  # a model and ids [1, n] -> the hidden states [1, n, d] that the head reads


def window_tensors(window: Window, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Inputs [1, n], positions that predict a supervised token [s], and those tokens [s]; nothing after them."""
    targets = [index for index, supervised in enumerate(window.supervised) if supervised and index > 0]
    ids = torch.tensor(window.input_ids, device=device)
    chosen = torch.tensor(targets, dtype=torch.long, device=device)
    return ids[: targets[-1]].unsqueeze(0), chosen - 1, ids[chosen]


def head_of(model: Any) -> Any:
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    return inner.get_output_embeddings()


def read_whole(model: Any, inputs: Tensor) -> Tensor:
    hidden: Tensor = decoder_of(model)(input_ids=inputs, use_cache=False).last_hidden_state
    return hidden


def loss_sum(model: Any, window: Window, device: torch.device, read: Read = read_whole) -> Tensor:
    """Summed cross-entropy (nats) over the window's supervised tokens, fp32."""
    inputs, positions, targets = window_tensors(window, device)
    hidden = read(model, inputs)[0]  # [n, d]
    return chunked_cross_entropy(hidden.index_select(0, positions), head_of(model), targets, softcap=_softcap(model))


def chunked_cross_entropy(hidden: Tensor, head: Any, targets: Tensor, *, softcap: float | None = None) -> Tensor:
    """Sum over [s] targets of hidden [s, d]; only a chunk's logits exist at one time."""
    if hidden.requires_grad and softcap is None and head.bias is None:
        return HeadCrossEntropy.apply(hidden, head.weight, targets, CHUNK)  # type: ignore[no-any-return]

    def chunk(part: Tensor, wanted: Tensor) -> Tensor:
        logits = head(part).float()  # [c, vocabulary]
        if softcap is not None:
            logits = torch.tanh(logits / softcap) * softcap
        return F.cross_entropy(logits, wanted, reduction="sum")

    total = torch.zeros((), dtype=torch.float32, device=hidden.device)
    for part, wanted in zip(torch.split(hidden, CHUNK), torch.split(targets, CHUNK), strict=True):
        total = total + (
            checkpoint(chunk, part, wanted, use_reentrant=False) if part.requires_grad else chunk(part, wanted)
        )
    return total


def _softcap(model: Any) -> float | None:
    """Gemma 2 bounds its logits; a head applied by hand must do the same."""
    value = getattr(model.config, "final_logit_softcapping", None)
    return None if value is None else float(value)


@torch.no_grad()
def mean_loss(model: Any, windows: Sequence[Window], device: torch.device, read: Read = read_whole) -> float:
    """Mean over all supervised tokens of all windows, nats per token."""
    total, count = 0.0, 0
    for window in windows:
        if window.supervised_count:
            total += float(loss_sum(model, window, device, read))
            count += window.supervised_count
    return total / max(1, count)
