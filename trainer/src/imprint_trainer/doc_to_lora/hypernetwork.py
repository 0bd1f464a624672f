"""The hypernetwork (sections 5 and 6): features of a document's chunks -> A and B of every layer and target module."""

from contextlib import nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from imprint_trainer.doc_to_lora.aggregator import Aggregator
from imprint_trainer.doc_to_lora.config import HypernetworkConfig
from imprint_trainer.doc_to_lora.head import Head
from imprint_trainer.doc_to_lora.residual_mlp import PerLayerResidualMlp, SharedResidualMlp


@dataclass(frozen=True)
class Factors:
    """A module's update in two factors: delta W = multiplier * B^T A for each leading index."""

    A: Tensor  # [..., L, r, d_in]
    B: Tensor  # [..., L, r, d_out]


class Hypernetwork(nn.Module):
    """State-dict keys are those of a published checkpoint (section 9)."""

    def __init__(self, config: HypernetworkConfig) -> None:
        super().__init__()
        self.config = config
        L, r = config.num_layers, config.rank
        self.aggregator = Aggregator(config)
        self.layers = nn.ModuleList(
            PerLayerResidualMlp(layers=L, size=config.latent_size, hidden=config.pre_head_size)
            if config.per_layer_processing
            else SharedResidualMlp(size=config.latent_size, hidden=config.pre_head_size)
            for _ in range(config.num_pre_head_layers)
        )
        self.head = Head(layers=L, modules=len(config.target_modules), size=config.latent_size, d_lora=config.d_lora)
        names = config.target_modules
        self.bias_A = nn.ParameterDict({m: nn.Parameter(torch.empty(L, r, config.d_in[m])) for m in names})
        self.bias_B = nn.ParameterDict({m: nn.Parameter(torch.empty(L, r, config.d_out[m])) for m in names})
        self.scaler_A = nn.ParameterDict({m: nn.Parameter(torch.ones(1, L, r, 1)) for m in names})
        self.scaler_B = nn.ParameterDict({m: nn.Parameter(torch.zeros(1, L, r, 1)) for m in names})

    def forward(
        self, features: Tensor, mask: Tensor, *, iterative: bool = False, autocast: bool = False
    ) -> dict[str, Factors]:
        """features [K, L, S, D] (early exit [K, S, D]), mask [K, S] -> A [K, L, r, d_in], B [K, L, r, d_out] by module.

        `autocast` runs the aggregator in bf16 as the reference does on a GPU (section 5.3); the head stays in the
        parameters' dtype.
        """
        dtype = self.head.weight.dtype
        precision = torch.autocast(features.device.type, dtype=torch.bfloat16) if autocast else nullcontext()
        with precision:
            latents = self.aggregator(features.to(dtype), mask, iterative=iterative)
        return self.generate(self.pre_head(latents.to(dtype)))

    def pre_head(self, latents: Tensor) -> Tensor:
        """[K, L, M, r, d] -> the same shape, through the residual blocks."""
        for block in self.layers:
            latents = block(latents)
        return latents

    def generate(self, latents: Tensor) -> dict[str, Factors]:
        """[K, L, M, r, d] -> factors; the L2 norm stands before the head, the scalers after it (section 15.7)."""
        unit = latents / latents.norm(dim=-1, keepdim=True)  # no epsilon, as in the reference
        rows = self.head(unit)  # [K, L, M, r, d_lora]
        factors = {}
        for index, module in enumerate(self.config.target_modules):
            d_in, d_out = self.config.d_in[module], self.config.d_out[module]
            A, B, _ = rows[:, :, index].split([d_in, d_out, self.config.d_lora - d_in - d_out], dim=-1)
            factors[module] = Factors(A * self.scaler_A[module], B * self.scaler_B[module])
        return factors
