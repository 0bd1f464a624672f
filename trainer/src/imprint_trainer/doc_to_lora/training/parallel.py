"""A step's documents side by side, one part to a core.

The products of a step are small: a second thread within each gains a tenth, a second thread with documents of its own
nearly doubles the speed. Gradients are added in the parts' order, so the same number of threads gives the same bits.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.doc_to_lora.training.batches import Batch
from imprint_trainer.doc_to_lora.training.config import HypernetworkTrainingConfig
from imprint_trainer.doc_to_lora.training.frozen_base import FrozenBase
from imprint_trainer.doc_to_lora.training.prompts import Prompts
from imprint_trainer.doc_to_lora.training.student import Losses, compute_losses


@dataclass(frozen=True)
class Workers:
    """Threads with a base model each."""

    bases: list[FrozenBase]
    pool: ThreadPoolExecutor

    def backward(
        self,
        hypernetwork: Hypernetwork,
        parameters: list[Tensor],
        prompts: Prompts,
        batch: Batch,
        config: HypernetworkTrainingConfig,
    ) -> Losses:
        """The losses of a whole step; their gradient goes into the parameters' `grad`."""

        def part(base: FrozenBase, own: Batch) -> tuple[Losses, tuple[Tensor | None, ...]]:
            losses = compute_losses(hypernetwork, base, prompts, own, config)
            return losses, torch.autograd.grad(losses.total, parameters, allow_unused=True)

        done = list(self.pool.map(part, self.bases, batch.parts(len(self.bases))))
        for parameter, gradients in zip(parameters, zip(*(own for _, own in done), strict=True), strict=True):
            known = [gradient for gradient in gradients if gradient is not None]
            parameter.grad = torch.stack(known).sum(0) if known else None
        losses = [one for one, _ in done]
        return Losses(
            torch.stack([one.total.detach() for one in losses]).sum(),
            torch.stack([one.answer for one in losses]).sum(),
            torch.stack([one.retention for one in losses]).sum(),
        )

    def step(self, optimizers: list[torch.optim.Optimizer]) -> None:
        list(self.pool.map(lambda optimizer: optimizer.step(), optimizers))


@contextmanager
def workers(base: FrozenBase) -> Iterator[Workers]:
    """As many as torch has threads on a CPU, each part of the work with one of them; one on a GPU, with all."""
    threads = torch.get_num_threads()
    count = threads if base.model.device.type == "cpu" else 1
    each = threads // count
    torch.set_num_threads(each)
    try:
        with ThreadPoolExecutor(count, initializer=torch.set_num_threads, initargs=(each,)) as pool:
            yield Workers([base, *(base.twin() for _ in range(count - 1))], pool)
    finally:
        torch.set_num_threads(threads)
