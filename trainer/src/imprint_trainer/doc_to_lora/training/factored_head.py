"""The head while it trains: A in a fixed whitened basis of each target's inputs, B in units of the residual stream.

Both fold into an ordinary head, so what is saved is a plain Doc-to-LoRA hypernetwork.
"""

from typing import Any

import torch
from torch import Tensor, nn

from imprint_trainer.doc_to_lora.config import HypernetworkConfig
from imprint_trainer.doc_to_lora.targets import decoder, module_path

SMALLEST = 1e-6  # of the largest mean square: below it, axes are noise of fp32
OUTPUT_SCALE = 0.1  # an update of this share of the mean residual norm is noticed and does not drown the stream


class FactoredHead(nn.Module):
    """Latents [K, L, 1, r, d] -> rows [K, L, 1, r, d_in + d_out] of the one target module."""

    basis: Tensor
    out_scale: Tensor

    def __init__(self, *, latent_size: int, basis: Tensor, out_scale: Tensor, d_out: int) -> None:
        """basis [L, c, d_in], out_scale [L]."""
        super().__init__()
        layers, components, _ = basis.shape
        self.register_buffer("basis", basis)
        self.register_buffer("out_scale", out_scale)
        self.weight_A = nn.Parameter(torch.randn(layers, latent_size, components) / components**0.5)
        self.weight_B = nn.Parameter(torch.randn(layers, latent_size, d_out) * 0.1 / d_out**0.5)

    @property
    def weight(self) -> Tensor:
        """The ordinary head's weight [L, d, d_in + d_out]."""
        return torch.cat([self.weight_A @ self.basis, self.weight_B * self.out_scale[:, None, None]], dim=-1)

    def forward(self, x: Tensor) -> Tensor:
        return torch.einsum("klmrd,ldo->klmro", x, self.weight)


@torch.no_grad()
def measure_basis(
    model: Any, batches: list[tuple[Tensor, Tensor]], config: HypernetworkConfig, components: int
) -> tuple[Tensor, Tensor]:
    """Whitened principal components [L, c, d_in] of each target's inputs and 0.1 x the mean residual norm [L].

    batches: ids and mask, each [B, S], of ordinary prompts; c is `components`, or d_in where that is less. A row of
    the basis times an input has a mean square of one over the tokens.
    """
    (module,) = config.target_modules
    d_in, device = config.d_in[module], model.device
    grams = {layer: torch.zeros(d_in, d_in, device=device) for layer in config.layer_indices}
    norms = {layer: torch.zeros((), device=device) for layer in config.layer_indices}
    counted = torch.empty(0)

    def watch(layer: int) -> list[Any]:
        def enters(_: nn.Module, args: tuple[Tensor, ...]) -> None:
            x = args[0][counted].float()  # [tokens, d_in]
            grams[layer].addmm_(x.mT, x)

        def leaves(_: nn.Module, __: Any, output: Any) -> None:
            hidden = output[0] if isinstance(output, tuple) else output
            norms[layer].add_(hidden[counted].float().norm(dim=-1).sum())

        target = model.get_submodule(module_path(layer, module))
        return [target.register_forward_pre_hook(enters), decoder(model).layers[layer].register_forward_hook(leaves)]

    hooks = [hook for layer in config.layer_indices for hook in watch(layer)]
    tokens = 0
    try:
        for ids, mask in batches:
            counted = mask.bool() & (mask.cumsum(-1) > 1)  # the first token is an attention sink, far off the rest
            tokens += int(counted.sum())
            decoder(model)(input_ids=ids, attention_mask=mask, use_cache=False)
    finally:
        for hook in hooks:
            hook.remove()
    bases = [_whitened(grams[layer] / tokens, components) for layer in config.layer_indices]
    scales = [norms[layer] / tokens * OUTPUT_SCALE for layer in config.layer_indices]
    return torch.stack(bases), torch.stack(scales)


def _whitened(gram: Tensor, components: int) -> Tensor:
    """Second moments [d, d] -> [c, d]: the largest principal axes, each over the root of its mean square."""
    values, vectors = torch.linalg.eigh(gram)  # ascending
    largest = values[-components:].flip(0).clamp(min=float(values[-1]) * SMALLEST)
    whitened: Tensor = vectors[:, -components:].flip(1).mT / largest.sqrt()[:, None]
    return whitened
