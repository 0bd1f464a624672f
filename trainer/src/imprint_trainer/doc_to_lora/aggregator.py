"""Features of all layers through one shared Perceiver (section 5.1)."""

import torch
from torch import Tensor, nn

from imprint_trainer.doc_to_lora.config import HypernetworkConfig
from imprint_trainer.doc_to_lora.norm import rms_normalize
from imprint_trainer.doc_to_lora.perceiver import Perceiver


class Aggregator(nn.Module):
    """There is no layer embedding: with per-layer features, a layer's identity enters in the head alone."""

    def __init__(self, config: HypernetworkConfig) -> None:
        super().__init__()
        self.config = config
        self.perceiver = Perceiver(config)

    def encode(self, features: Tensor, mask: Tensor, *, iterative: bool = False) -> Tensor:
        """features [K, L, S, D], mask [K, S] -> [L*K, n, d] layer-major; early exit [K, S, D] -> [K, n, d].

        `iterative` takes the layers one by one: the same numbers with 1/L of the memory.
        """
        attended = self._attended(mask)
        if self.config.normalize_features:
            features = rms_normalize(features)
        if not self.config.per_layer_features:
            return self.perceiver.encode(features, attended)
        if iterative:
            return torch.cat([self.perceiver.encode(layer, attended) for layer in features.unbind(1)])
        folded = features.transpose(0, 1).flatten(0, 1)  # [L*K, S, D]
        return self.perceiver.encode(folded, attended.repeat(features.shape[1], 1))

    def decode(self, encoded: Tensor) -> Tensor:
        """The encoder's latents -> [K, L, M, r, d]."""
        decoded = self.perceiver.decode(encoded)
        L, M, r = self.config.num_layers, len(self.config.target_modules), self.config.rank
        if not self.config.per_layer_features:
            return decoded.reshape(-1, L, M, r, decoded.shape[-1])
        return decoded.reshape(L, -1, M, r, decoded.shape[-1]).transpose(0, 1)

    def forward(self, features: Tensor, mask: Tensor, *, iterative: bool = False) -> Tensor:
        return self.decode(self.encode(features, mask, iterative=iterative))

    def _attended(self, mask: Tensor) -> Tensor:
        attended = mask.bool()
        if self.config.skip_first_token:
            attended = attended & (attended.cumsum(-1) > 1)
        return attended
