"""The axes that A and B are built in: long where an adapter must speak, short where it must leave the base model alone.

A is linear in a target's inputs, so what it does to an unrelated text is set by how far that text's inputs reach along
A's rows. The axes are the generalised eigenvectors of two second moments: inputs at the answers to questions about
facts, over inputs everywhere else. Principal components of ordinary text, the common choice, are the opposite: they are
the axes along which every text moves most.

B writes into the residual stream, and what it writes raises every token whose output embedding leans the same way. Its
axes are those of the whitened output embeddings: along the few directions that all tokens share they are short.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from imprint_trainer.doc_to_lora.config import HypernetworkConfig
from imprint_trainer.doc_to_lora.targets import decoder, module_path
from imprint_trainer.doc_to_lora.training.padding import pad
from imprint_trainer.models.causal_lm import CausalLM

BATCH = 20
BOUND = 0.1  # share of the speaking moment in the silent one: no axis may count as silent by chance alone
FLOOR = 0.02  # of the mean square: below it, axes are noise of few texts
SHARED = 0.1  # of the mean square: directions that fewer tokens share than this are not made longer
OUTPUT_SCALE = 0.1  # an update of this share of the mean residual norm is noticed and does not drown the stream


@dataclass(frozen=True)
class Text:
    """Ids, and those positions from `start` to before `end` that count."""

    ids: list[int]
    start: int
    end: int


@dataclass(frozen=True)
class Moments:
    """Of one layer: second moments of the target's inputs [d_in, d_in], and the mean residual norm."""

    inputs: Tensor
    residual_norm: Tensor


@torch.no_grad()
def measure_basis(
    model: CausalLM,
    speaking: list[Text],
    silent: list[Text],
    config: HypernetworkConfig,
    components: int,
    kept: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Axes [L, c, d_in] and 0.1 x the mean residual norm [L], on the CPU.

    c is `components`, or d_in where that is less. Rows of the basis times an input have a mean square of one over the
    positions of `speaking`, on average. What is a sum of `kept` [L, k, d_in] is one of the axes too, where k is no more
    than c.
    """
    own, others = measure_moments(model, speaking, config), measure_moments(model, silent, config)
    rows: list[Tensor | None] = [None] * len(own) if kept is None else list(kept)
    bases = [
        discriminating(here.inputs, elsewhere.inputs, components, row)
        for here, elsewhere, row in zip(own, others, rows, strict=True)
    ]
    return torch.stack(bases), torch.stack([here.residual_norm * OUTPUT_SCALE for here in own])


def discriminating(own: Tensor, other: Tensor, components: int, kept: Tensor | None = None) -> Tensor:
    """Second moments [d, d] twice -> [c, d]: axes of the largest ratio own / other, in falling order, after those that
    `kept` [k, d] is made of.

    All reach equally far along other texts' inputs, so a row of A that is learned in them speaks where that costs other
    texts least. Over own inputs their mean square is one on average.
    """
    own, other = own.double(), other.double()
    floor = torch.eye(len(own), dtype=own.dtype) * own.diagonal().mean() * FLOOR
    lower = torch.linalg.cholesky(other + BOUND * own + floor)
    half = torch.linalg.solve_triangular(lower, own, upper=False)
    ratios, vectors = torch.linalg.eigh(torch.linalg.solve_triangular(lower, half.mT, upper=False))  # ascending
    ratios, vectors = ratios[-components:].flip(0), vectors[:, -components:].flip(1)
    if kept is not None:
        vectors = torch.linalg.qr(torch.cat([lower.mT @ kept.double().mT, vectors], dim=1)).Q[:, :components]
    axes = torch.linalg.solve_triangular(lower.mT, vectors, upper=True).mT
    scaled: Tensor = axes / ratios.mean().clamp(min=1e-9).sqrt()
    return scaled.float()


@torch.no_grad()
def output_rows(model: CausalLM) -> Tensor:
    """What each token's logit reads of the last residual, up to its norm: centred output embeddings [V, D], times the
    gain of the last norm, on the CPU."""
    embeddings = model.get_output_embeddings().weight.float()
    gain = decoder(model).norm(embeddings.new_ones(embeddings.shape[1]))
    rows: Tensor = ((embeddings - embeddings.mean(0)) * gain).cpu()
    return rows


def output_axes(model: CausalLM) -> Tensor:
    """[D, D], symmetric: a whitened output embedding of length one times these axes raises its own token, and others as
    little as can be; the product's mean norm over all tokens is one."""
    rows = output_rows(model).double()
    moment = rows.mT @ rows / len(rows)
    values, vectors = torch.linalg.eigh(moment)
    axes = vectors * (values + SHARED * values.mean()).rsqrt() @ vectors.mT
    written = normalize(rows @ axes, dim=-1) @ axes
    scaled: Tensor = axes / written.norm(dim=-1).mean()
    return scaled.float()


def measure_moments(model: CausalLM, texts: list[Text], config: HypernetworkConfig) -> list[Moments]:
    """Of each adapted layer, over the positions that count, on the CPU."""
    (module,) = config.target_modules
    d_in, device = config.d_in[module], model.device
    sums = {layer: torch.zeros(d_in, d_in, device=device) for layer in config.layer_indices}
    norms = {layer: torch.zeros((), device=device) for layer in config.layer_indices}
    counted = torch.empty(0)

    def watch(layer: int) -> list[Any]:
        def enters(_: nn.Module, args: tuple[Tensor, ...]) -> None:
            x = args[0][counted].float()  # [positions, d_in]
            sums[layer].addmm_(x.mT, x)

        def leaves(_: nn.Module, __: Any, output: Any) -> None:
            hidden = output[0] if isinstance(output, tuple) else output
            norms[layer].add_(hidden[counted].float().norm(dim=-1).sum())

        target = model.get_submodule(module_path(layer, module))
        return [target.register_forward_pre_hook(enters), decoder(model).layers[layer].register_forward_hook(leaves)]

    hooks = [hook for layer in config.layer_indices for hook in watch(layer)]
    positions = 0
    texts = sorted(texts, key=lambda text: len(text.ids))
    try:
        for first in range(0, len(texts), BATCH):
            rows = texts[first : first + BATCH]
            ids, mask = (x.to(device) for x in pad([row.ids for row in rows]))
            counted = torch.zeros_like(mask, dtype=torch.bool)
            for row, text in zip(counted, rows, strict=True):
                row[text.start : text.end] = True
            positions += int(counted.sum())
            decoder(model)(input_ids=ids, attention_mask=mask, use_cache=False)
    finally:
        for hook in hooks:
            hook.remove()
    return [
        Moments((sums[layer] / positions).cpu(), (norms[layer] / positions).cpu()) for layer in config.layer_indices
    ]
