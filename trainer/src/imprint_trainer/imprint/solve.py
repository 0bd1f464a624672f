"""The update that moves the base towards what it got wrong, and ordinary text as little as can be."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
        middle, rank = len(seen.errors) // 2, limits.rank or self.config.rank
        parts = (slice(middle), slice(middle, None)) if middle >= LEAST_OF_TRIAL else ()
        update, *others = solve(seen, self.statistics, self.config, (slice(None), *parts), rank)
        trials = tuple(Trial(one.factors, tuple(rest)) for one, rest in zip(others, halves(chosen)[::-1], strict=False))
        read_of = coverage_of(base, session, cut, chosen)
        return Imprinted(update, read_of, self.config, "Ridge, one forward pass", trials)


CLOSED_FORM = Format(
    "ridge",
    ClosedFormConfig,
    lambda config, tensors, device: ClosedForm(
        config, from_tensors({key: tensor.to(device) for key, tensor in tensors.items()}, config)
    ),
)


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
def solve(
    seen: Seen, statistics: Statistics, config: ClosedFormConfig, parts: Sequence[slice], rank: int
) -> list[Update]:
    """Of each part of the tokens, the ridge regression of their wanted moves on their inputs (MEMIT, Meng et al. 2023,
    equation 14):

        W = R^T A H^-1,   H = A^T A + ridge C,   R = step / L * E F^-1

    A [s, d_in] are a layer's inputs at the supervised tokens, E [s, d] the errors there; F^-1 E is their natural
    gradient, which every layer is given an equal share of. With more tokens A^T A outgrows C: many chunks do not add up
    to more than the session asks for. Each W is cut to the rank, in the metric of H and F: where its inputs and the
    output's errors are, not where no input reaches, as most of W does. The error of that is told in the same metric.
    """
    (module,) = config.target_modules
    errors = statistics.errors.to(seen.errors)
    errors = errors + config.damping * errors.diagonal().mean() * torch.eye(len(errors)).to(errors)
    root = torch.linalg.cholesky(errors)  # F = root root^T
    wanted = torch.linalg.solve_triangular(root, seen.errors.mT, upper=False) * config.step / config.num_layers
    spans = [torch.linalg.qr(wanted[:, part]) for part in parts]  # of root^T R^T: axes [d, m], moves along them [m, s]
    cuts: list[list[tuple[Tensor, Tensor, Tensor]]] = [[] for _ in parts]
    for place in range(config.num_layers):
        inputs = seen.inputs[place].to(errors)
        regress = _regression(statistics, place, inputs, config.ridge)
        for cut, part, (axes, moves) in zip(cuts, parts, spans, strict=True):
            columns = regress(part, moves)  # H^-1 A^T moves^T [d_in, m]
            values, vectors = torch.linalg.eigh((moves @ inputs[part] @ columns).double())
            vectors = vectors[:, -rank:].to(errors)
            A, B = (columns @ vectors).mT, torch.linalg.solve_triangular(root.mT, axes @ vectors, upper=True).mT
            size = (A.norm(dim=1) / B.norm(dim=1)).sqrt().clamp(min=torch.finfo(A.dtype).tiny)[:, None]  # of one size
            cut.append((A / size, B * size, values.clamp(min=0)))
    return [_update(module, cut, rank, seen) for cut in cuts]


def _update(module: str, cut: Sequence[tuple[Tensor, Tensor, Tensor]], rank: int, seen: Seen) -> Update:
    A, B, values = (torch.stack(layers) for layers in zip(*cut, strict=True))
    kept, whole = float(values[:, -rank:].sum()), float(values.sum())
    error = math.sqrt(max(0.0, 1 - kept / whole)) if whole > 0 else 0.0
    return Update({module: Factors(A, B)}, seen.tokens, seen.windows, values.shape[1], error)


def _regression(statistics: Statistics, place: int, inputs: Tensor, ridge: float) -> Callable[[slice, Tensor], Tensor]:
    """Of a part of the tokens and their moves [m, s], H^-1 A^T moves^T [d_in, m]. Of no more tokens than inputs in the
    dual form, C^-1 A^T (K + ridge)^-1 moves^T: one K = A C^-1 A^T serves all parts, and C is never formed."""
    if len(inputs) > inputs.shape[1]:
        ordinary = ridge * statistics.inputs(place).to(inputs)
        return lambda part, moves: _solved(inputs[part].mT @ inputs[part] + ordinary, inputs[part].mT @ moves.mT)
    spread = statistics.solve(place, inputs.mT)  # C^-1 A^T [d_in, s]
    held = inputs @ spread  # K [s, s]
    held.diagonal().add_(ridge)
    return lambda part, moves: spread[:, part] @ _solved(held[part, part], moves.mT)


def _solved(held: Tensor, columns: Tensor) -> Tensor:
    return torch.cholesky_solve(columns, torch.linalg.cholesky(held))
