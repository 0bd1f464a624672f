"""The update that moves the base towards what it got wrong, and ordinary text as little as can be."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from imprint_trainer.doc_to_lora.ridge.config import RidgeConfig
from imprint_trainer.doc_to_lora.ridge.reading import Gram
from imprint_trainer.doc_to_lora.ridge.statistics import Statistics
from imprint_trainer.lora.adapter import Factors


@dataclass(frozen=True)
class Solved:
    """A [L, R, d_in] and B [L, R, d] of the target module. `error`: what cutting to R took, relative, in the metric
    that it was cut in."""

    factors: dict[str, Factors]
    uncut_rank: int
    error: float


@torch.no_grad()
def solve(gram: Gram, statistics: Statistics, config: RidgeConfig, *, rank: int | None = None) -> Solved:
    """Ridge regression of each token's wanted move on its inputs (MEMIT, Meng et al. 2023, equation 14):

        W = R^T A H^-1,   H = A^T A + ridge C,   R = step / L * E F^-1

    A [s, d_in] are a layer's inputs at the supervised tokens, E [s, d] the errors there; F^-1 E is their natural
    gradient, which every layer is given an equal share of. With more tokens A^T A outgrows C: many chunks do not add up
    to more than the session asks for.
    """
    (module,) = config.target_modules
    errors = statistics.errors.to(gram.lessons)
    errors = errors + config.damping * errors.diagonal().mean() * torch.eye(len(errors)).to(errors)
    uncut = min(gram.tokens, len(errors))
    kept = min(uncut, config.rank if rank is None else rank)
    rows, columns, squared, whole = [], [], 0.0, 0.0
    for place in range(config.num_layers):
        held = gram.inputs[place] + config.ridge * statistics.inputs(place).to(gram.inputs)
        moves = torch.cholesky_solve(gram.lessons[place], torch.linalg.cholesky(held))  # [d_in, d]
        update = config.step / config.num_layers * torch.linalg.solve(errors, moves.mT)  # [d, d_in]
        cut = _cut(update, held, errors, kept)
        rows.append(cut.A)
        columns.append(cut.B)
        squared, whole = squared + cut.squared, whole + cut.whole
    error = math.sqrt(max(0.0, 1 - squared / whole)) if whole > 0 else 0.0
    return Solved({module: Factors(torch.stack(rows), torch.stack(columns))}, uncut, error)


@dataclass(frozen=True)
class _Cut:
    A: Tensor  # [rank, d_in]
    B: Tensor  # [rank, d]
    squared: float  # norm of what is kept, in the metric
    whole: float


def _cut(update: Tensor, held: Tensor, errors: Tensor, rank: int) -> _Cut:
    """The best approximation B^T A of update [d, d_in] where inputs spread as `held` [d_in, d_in] and the output's
    errors as `errors` [d, d]: of F^(1/2) W H^(1/2), not of W, most of which lies where no input reaches."""
    root = torch.linalg.cholesky(errors)  # errors = root root^T
    seen = root.mT @ update  # [d, d_in]
    values, vectors = torch.linalg.eigh((seen @ held @ seen.mT).double())
    values, axes = values.clamp(min=0), vectors[:, -rank:].to(update)  # [d, rank]
    A, B = axes.mT @ seen, torch.linalg.solve_triangular(root.mT, axes, upper=True).mT
    size = (A.norm(dim=1) / B.norm(dim=1)).sqrt().clamp(min=torch.finfo(A.dtype).tiny)[:, None]  # of one size each
    return _Cut(A / size, B * size, float(values[-rank:].sum()), float(values.sum()))
