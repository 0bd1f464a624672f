"""Losses of a step and their gradients: row by row above the kept states, then once through the hypernetwork."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from imprint_trainer.doc_to_lora.apply import applied
from imprint_trainer.doc_to_lora.merge import merge_chunks
from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.rest.batches import Held, Row, chosen
from imprint_trainer.doc_to_lora.training.rest.config import RestConfig
from imprint_trainer.doc_to_lora.training.rest.losses import rise, tail_divergence, top_token_hinge
from imprint_trainer.doc_to_lora.training.rest.passages import Document
from imprint_trainer.doc_to_lora.training.rest.reading import SplitBase
from imprint_trainer.lora.factors import Factors
from imprint_trainer.lora.loss import chunked_cross_entropy
from imprint_trainer.models.output_head import output_head

Update = dict[str, Factors]


@dataclass(frozen=True)
class Step:
    """Means over a step's rows, nats a token."""

    rest: float
    rest_of_base: float
    retention: float

    @property
    def total(self) -> float:
        return self.rest + self.retention


def update_of(
    hypernetwork: Hypernetwork, split: SplitBase, base: Base, documents: Sequence[tuple[Document, int]], length: int
) -> list[Update]:
    """The updates of documents of at most so many chunks each, differentiable in the hypernetwork."""
    found = []
    for document, count in documents:
        features, mask = split.document(document.chunks(base, count, length), keep=document.kept)
        device = hypernetwork.head.weight.device
        found.append(merge_chunks(hypernetwork, hypernetwork(features.to(device), mask.to(device))))
    return found


def backward(
    hypernetwork: Hypernetwork, split: SplitBase, base: Base, rows: Sequence[Row], config: RestConfig, length: int
) -> Step:
    """Adds the step's gradient to the parameters' `grad`. Activations of one row exist at a time."""
    updates = update_of(hypernetwork, split, base, [(row.document, row.chunks) for row in rows], length)
    rests, of_base, kept, tensors, gradients = [], [], [], [], []
    for row, update in zip(rows, updates, strict=True):
        leaves = {
            module: Factors(pair.A.detach().requires_grad_(), pair.B.detach().requires_grad_())
            for module, pair in update.items()
        }
        rest, before = _rest(split, base, row, leaves, config, length)
        (rest / len(rows)).backward()  # type: ignore[no-untyped-call]
        rests.append(rest.detach())
        of_base.append(before)
        if config.retention_weight:
            held = _held(split, row.held, leaves, row.seed, config)
            (held * (config.retention_weight / len(rows))).backward()  # type: ignore[no-untyped-call]
            kept.append(held.detach())
        for module, pair in update.items():
            tensors += [pair.A, pair.B]
            gradients += [leaves[module].A.grad, leaves[module].B.grad]
    torch.autograd.backward(tensors, gradients)
    retention = torch.stack(kept).mean() if kept else torch.zeros(())
    return Step(float(torch.stack(rests).mean()), float(torch.stack(of_base).mean()), float(retention))


def _rest(
    split: SplitBase, base: Base, row: Row, update: Update, config: RestConfig, length: int
) -> tuple[Tensor, Tensor]:
    """Loss on some of the window's targets, and the base's on the same."""
    read = split.window(row.rest, keep=row.document.kept)
    at = chosen(len(read.targets), config.positions, f"{row.seed} rest")
    device = split.model.device
    with applied(split.model, update, split.config):
        hidden = split.upper(read.states)[read.positions[at].to(device)]
    share = config.distillation_weight
    loss = chunked_cross_entropy(hidden, output_head(split.model), read.targets[at].to(device)) / len(at)
    if share and row.document.kept:
        ids = [token for chunk in row.document.chunks(base, row.chunks, length) for token in chunk]
        room = max(1, config.teacher_length - len(row.rest.input_ids))
        top_ids, values = split.with_document(row.rest, ids[-room:])
        taught = tail_divergence(split.log_probs(hidden), top_ids[at].to(device), values[at].to(device))
        loss = (1 - share) * loss + share * taught
    return loss, read.nll[at].mean()


def _held(split: SplitBase, held: Held, update: Update, seed: str, config: RestConfig) -> Tensor:
    read = split.window(held.window, keep=held.kept)
    at = chosen(len(read.targets), config.held_positions, f"{seed} held")
    device = split.model.device
    with applied(split.model, update, split.config):
        log_probs = split.log_probs(split.upper(read.states)[read.positions[at].to(device)])
    if held.foreign and config.foreign_hold == "loss":
        nll = -log_probs.gather(1, read.targets[at].to(device)[:, None]).squeeze(1)
        return rise(nll, read.nll[at].to(device))
    top_ids = read.top_ids[at].to(device)
    loss = tail_divergence(log_probs, top_ids, read.top_log_probs[at].to(device))
    return loss + config.hinge_weight * top_token_hinge(log_probs, top_ids)
