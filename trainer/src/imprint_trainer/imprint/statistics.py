"""What the closed form knows of a base model: how inputs of the adapted layers and errors of the output spread."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from imprint_trainer.errors import HypernetworkInvalid
from imprint_trainer.imprint.config import ClosedFormConfig, decoder
from imprint_trainer.imprint.read import errors_at, recording
from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.models.head import output_head

SMALLEST = 1e-6  # of a diagonal, as a share of its mean: keeps the moments positive definite


@dataclass(frozen=True)
class Statistics:
    """Second moments over ordinary text: of each layer's inputs C = axes axes^T + diag(rest), and of errors F (K-FAC's
    two factors: Martens and Grosse 2015, section 3; C is MEMIT's C_0: Meng et al. 2023, equation 15)."""

    axes: Tensor  # [L, d_in, k]
    rest: Tensor  # [L, d_in]
    errors: Tensor  # [d, d]

    def inputs(self, layer: int) -> Tensor:
        """[d_in, d_in] of the layer at a place of `layer_indices`, in fp32."""
        axes = self.axes[layer].float()
        return axes @ axes.mT + torch.diag(self.rest[layer].float())

    def solve(self, layer: int, columns: Tensor) -> Tensor:
        """C^-1 of such a layer on columns [d_in, n], without C itself: the Woodbury identity, which wants fp64."""
        axes, rest = self.axes[layer].double(), self.rest[layer].double()[:, None]
        direct, own = columns / rest, axes / rest
        inner = own.mT @ axes
        inner.diagonal().add_(1)
        along = torch.cholesky_solve(axes.mT @ direct, torch.linalg.cholesky(inner))
        return direct.addmm_(own, along, alpha=-1).to(columns)

    def tensors(self) -> dict[str, Tensor]:
        """As they are stored."""
        return {
            "inputs.axes": self.axes.to(torch.bfloat16),
            "inputs.rest": self.rest.float(),
            "errors": triangle(self.errors.float()),
        }


def triangle(moments: Tensor) -> Tensor:
    """The upper half of a symmetric matrix, row by row: the lower one says the same."""
    return moments[tuple(torch.triu_indices(*moments.shape))]


def mirrored(half: Tensor, size: int) -> Tensor:
    """The symmetric matrix of an upper half."""
    rows, columns = torch.triu_indices(size, size)
    whole = half.new_empty(size, size)
    whole[rows, columns] = whole[columns, rows] = half
    return whole


def expected_shapes(config: ClosedFormConfig) -> dict[str, tuple[int, ...]]:
    layers, (d_in,) = config.num_layers, config.d_in.values()
    return {
        "inputs.axes": (layers, d_in, config.axes),
        "inputs.rest": (layers, d_in),
        "errors": (config.feature_size * (config.feature_size + 1) // 2,),
    }


def from_tensors(tensors: Mapping[str, Tensor], config: ClosedFormConfig) -> Statistics:
    """Raises HypernetworkInvalid unless they are exactly those of `config`, and finite."""
    expected, size = expected_shapes(config), config.feature_size
    if "errors" in tensors and tensors["errors"].shape == (size, size):  # whole, as it was stored at first
        tensors = {**tensors, "errors": triangle(tensors["errors"])}
    found = {key: tuple(tensor.shape) for key, tensor in tensors.items()}
    if found != expected:
        raise HypernetworkInvalid(f"The hypernetwork holds tensors of shapes {found}; {expected} were expected.")
    if not all(bool(tensor.isfinite().all()) for tensor in tensors.values()):
        raise HypernetworkInvalid("The hypernetwork holds NaN or infinity.")
    return Statistics(tensors["inputs.axes"], tensors["inputs.rest"], mirrored(tensors["errors"], size))


def compact(moments: Tensor, errors: Tensor, axes: int) -> Statistics:
    """Full second moments [L, d_in, d_in] and [d, d] -> the `axes` largest axes of each layer, and what they leave of
    the diagonal."""
    kept, rest = [], []
    for moment in moments:
        values, vectors = torch.linalg.eigh(moment.double())
        # Rounded first: the diagonal makes up for what rounding leaves
        own = (vectors[:, -axes:] * values[-axes:].clamp(min=0).sqrt()).to(torch.bfloat16)
        diagonal = moment.diagonal()
        left = diagonal - own.float().square().sum(-1)
        kept.append(own)
        rest.append(left.clamp(min=SMALLEST * float(diagonal.mean())))
    return Statistics(torch.stack(kept), torch.stack(rest), errors)


EVERY = 4  # which positions' errors are measured: neighbours tell much the same
SKIPPED = 4  # tokens at a piece's beginning: the first ones are attention's sinks, a hundred times as large


@torch.no_grad()
def measure(
    model: CausalLM,
    config: ClosedFormConfig,
    pieces: Iterable[list[int]],
    *,
    seed: int = 0,
    on_tokens: Callable[[int], None] = lambda _: None,
) -> tuple[Statistics, int]:
    """Over all pieces: C of each layer's inputs, and F of the errors of targets that the base itself draws (the true
    Fisher matrix, not the empirical one: Kunstner et al. 2019). Also how many tokens that were."""
    (d_in,) = config.d_in.values()
    inputs = torch.zeros(config.num_layers, d_in, d_in)
    errors = torch.zeros(config.feature_size, config.feature_size)
    generator, head = torch.Generator().manual_seed(seed), output_head(model)
    tokens, drawn = 0, 0
    for ids in pieces:
        with recording(model, config) as states:
            hidden = decoder(model)(input_ids=torch.tensor([ids], device=model.device), use_cache=False)
        for place, layer in enumerate(config.layer_indices):
            rows = states.entering[layer][SKIPPED:].float().cpu()
            inputs[place].addmm_(rows.mT, rows)
        chosen = torch.arange(SKIPPED, len(ids), EVERY, device=model.device)
        odds = head.logits(hidden.last_hidden_state[0].index_select(0, chosen)).softmax(-1).cpu()
        targets = torch.multinomial(odds, 1, generator=generator)[:, 0].to(model.device)
        found = errors_at(model, states.leaving[0].index_select(0, chosen), targets).cpu()
        errors.addmm_(found.mT, found)
        tokens, drawn = tokens + len(ids) - SKIPPED, drawn + len(chosen)
        on_tokens(tokens)
    return compact(inputs / tokens, errors / drawn, config.axes), tokens
