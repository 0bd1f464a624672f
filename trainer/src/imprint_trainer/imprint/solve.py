"""The update that moves the base towards what it got wrong, and ordinary text as little as can be."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from imprint_trainer.data.session import Session
from imprint_trainer.data.windows import Window
from imprint_trainer.errors import NothingToTrain
from imprint_trainer.imprint.config import ClosedFormConfig, check_fits
from imprint_trainer.imprint.entries import unread_characters
from imprint_trainer.imprint.read import Seen, halves, read_windows, worth_reading
from imprint_trainer.imprint.statistics import Statistics, from_tensors
from imprint_trainer.imprint.update import Coverage, Format, Imprinted, Limits, Trial, Update
from imprint_trainer.lora.adapter import Factors
from imprint_trainer.lora.loss import Read
from imprint_trainer.models.causal_lm import LoadedBase

LEAST_OF_TRIAL = 64  # targets of a half: fewer say little of what follows


@dataclass(frozen=True)
class ClosedForm:
    """The closed-form imprint of one base model."""

    config: ClosedFormConfig
    statistics: Statistics

    def imprint(
        self,
        base: LoadedBase,
        session: Session,
        windows: Callable[[], Sequence[Window]],
        limits: Limits,
        *,
        read: Read,
        stop: Callable[[], None],
    ) -> Imprinted:
        """As `Hypernetwork` has it: chunks are windows."""
        check_fits(base.model, self.config)
        cut = windows()
        chosen = [cut[one] for one in worth_reading(cut, limits.max_chunks, self.config.most_supervised)]
        if not chosen:
            raise NothingToTrain("The agent wrote nothing in what was read of the session.")
        seen = read_windows(base.model, self.config, chosen, read=read, stop=stop)
        solved = partial(solve, statistics=self.statistics, config=self.config, rank=limits.rank)
        read_of = coverage_of(base, session, cut, chosen)
        trials = partial(trials_of, solved, seen, chosen)
        return Imprinted(solved(seen), read_of, self.config, "Ridge, one forward pass", trials)


CLOSED_FORM = Format(
    "ridge",
    ClosedFormConfig,
    lambda config, tensors, device: ClosedForm(
        config, from_tensors({key: tensor.to(device) for key, tensor in tensors.items()}, config)
    ),
)


def trials_of(solved: Callable[[Seen], Update], seen: Seen, windows: Sequence[Window]) -> tuple[Trial, ...]:
    """Of both halves of the windows that were seen; none where one has too few targets."""
    if (middle := len(seen.errors) // 2) < LEAST_OF_TRIAL:
        return ()
    earlier, later = halves(windows)
    parts = ((seen.part(slice(middle)), later), (seen.part(slice(middle, None)), earlier))
    return tuple(Trial(solved(part).factors, tuple(other)) for part, other in parts)


def coverage_of(
    base: LoadedBase, session: Session, windows: Sequence[Window], chosen: Sequence[Window]
) -> tuple[Coverage, ...]:
    """Of the supervised tokens ("lessons"), of what stands around them in windows, and of what no window holds."""
    kinds = (("lessons", True), ("context", False))
    counts = [(kind, _length(base, windows, own), _length(base, chosen, own)) for kind, own in kinds]
    unread = [(kind, characters, 0) for kind, characters in unread_characters(session).items()]
    return tuple(Coverage(*one) for one in (*counts, *unread) if one[1])


def _length(base: LoadedBase, windows: Sequence[Window], supervised: bool) -> int:
    """Characters of the tokens that are supervised, or of the others."""
    rows = (
        [one for one, own in zip(window.input_ids, window.supervised, strict=True) if own is supervised]
        for window in windows
    )
    return sum(len(base.tokenizer.decode(row)) for row in rows)


@torch.no_grad()
def solve(seen: Seen, statistics: Statistics, config: ClosedFormConfig, *, rank: int | None = None) -> Update:
    """Ridge regression of each token's wanted move on its inputs (MEMIT, Meng et al. 2023, equation 14):

        W = R^T A H^-1,   H = A^T A + ridge C,   R = step / L * E F^-1

    A [s, d_in] are a layer's inputs at the supervised tokens, E [s, d] the errors there; F^-1 E is their natural
    gradient, which every layer is given an equal share of. With more tokens A^T A outgrows C: many chunks do not add up
    to more than the session asks for. The error of cutting to a rank is told in the metric that it is cut in.
    """
    (module,) = config.target_modules
    errors = statistics.errors.to(seen.errors)
    errors = errors + config.damping * errors.diagonal().mean() * torch.eye(len(errors)).to(errors)
    uncut = min(len(seen.errors), len(errors))
    kept = min(uncut, config.rank if rank is None else rank)
    wanted = config.step / config.num_layers * torch.linalg.solve(errors, seen.errors.mT)  # R^T [d, s]
    rows, columns, squared, whole = [], [], 0.0, 0.0
    for place in range(config.num_layers):
        inputs = seen.inputs[place].to(errors)
        held = inputs.mT @ inputs + config.ridge * statistics.inputs(place).to(errors)
        moves = wanted @ inputs  # W H [d, d_in]
        update = torch.cholesky_solve(moves.mT, torch.linalg.cholesky(held)).mT
        cut = _cut(update, moves, errors, kept)
        rows.append(cut.A)
        columns.append(cut.B)
        squared, whole = squared + cut.squared, whole + cut.whole
    error = math.sqrt(max(0.0, 1 - squared / whole)) if whole > 0 else 0.0
    factors = {module: Factors(torch.stack(rows), torch.stack(columns))}
    return Update(factors, seen.tokens, seen.windows, uncut, error)


@dataclass(frozen=True)
class _Cut:
    A: Tensor  # [rank, d_in]
    B: Tensor  # [rank, d]
    squared: float  # norm of what is kept, in the metric
    whole: float


def _cut(update: Tensor, moves: Tensor, errors: Tensor, rank: int) -> _Cut:
    """The best approximation B^T A of update W [d, d_in] where inputs spread as H, of which `moves` is W H, and the
    output's errors as `errors` F [d, d]: of F^(1/2) W H^(1/2), not of W, most of which lies where no input reaches."""
    root = torch.linalg.cholesky(errors)  # errors = root root^T
    seen = root.mT @ update  # [d, d_in]
    values, vectors = torch.linalg.eigh((root.mT @ moves @ seen.mT).double())
    values, axes = values.clamp(min=0), vectors[:, -rank:].to(update)  # [d, rank]
    A, B = axes.mT @ seen, torch.linalg.solve_triangular(root.mT, axes, upper=True).mT
    size = (A.norm(dim=1) / B.norm(dim=1)).sqrt().clamp(min=torch.finfo(A.dtype).tiny)[:, None]  # of one size each
    return _Cut(A / size, B * size, float(values[-rank:].sum()), float(values.sum()))
