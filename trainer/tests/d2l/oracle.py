"""Sections 5 to 7 in fp64 with explicit loops (a layer, a head, a token, a rank at a time): slow and obvious."""

import itertools
import math
from dataclasses import dataclass

import torch
from torch import Tensor

from doc_to_lora.config import HypernetworkConfig


def rms(x: Tensor, weight: Tensor) -> Tensor:
    return weight * x / math.sqrt(float((x * x).mean()) + 1e-6)


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    centred = x - x.mean()
    return centred / torch.sqrt((centred * centred).mean() + 1e-5) * weight + bias


def silu(x: Tensor) -> Tensor:
    return x / (1 + torch.exp(-x))


@dataclass(frozen=True)
class Oracle:
    config: HypernetworkConfig
    tensors: dict[str, Tensor]  # fp64

    def __getitem__(self, key: str) -> Tensor:
        return self.tensors[key]

    def gated(self, prefix: str, x: Tensor) -> Tensor:
        hidden = silu(self[f"{prefix}.gate_proj.weight"] @ x) * (self[f"{prefix}.up_proj.weight"] @ x)
        return self[f"{prefix}.down_proj.weight"] @ hidden

    def attend(self, prefix: str, query: Tensor, context: list[Tensor]) -> Tensor:
        heads = self.config.attention
        q = self[f"{prefix}.q_proj.weight"] @ query
        mixed = []
        for head in range(heads.n_heads):
            kv = head // (heads.n_heads // heads.num_key_value_heads)
            own_q = q[head * heads.head_dim : (head + 1) * heads.head_dim]
            rows = slice(kv * heads.head_dim, (kv + 1) * heads.head_dim)
            scores = [
                float(own_q @ (self[f"{prefix}.k_proj.weight"] @ token)[rows]) / math.sqrt(heads.head_dim)
                for token in context
            ]
            weights = [math.exp(score - max(scores)) for score in scores]
            values = [(self[f"{prefix}.v_proj.weight"] @ token)[rows] for token in context]
            shares = torch.tensor(weights, dtype=torch.float64) / sum(weights)
            mixed.append(shares @ torch.stack(values))
        return self[f"{prefix}.o_proj.weight"] @ torch.cat(mixed)

    def resample(self, part: str, context: list[Tensor]) -> list[Tensor]:
        prefix = f"aggregator.perceiver.{part}"
        kinds = self.config.encoder_layers if part == "encoder" else self.config.decoder_layers
        latents = list(self[f"{prefix}.latents_q"])
        for index, kind in enumerate(kinds):
            layer = f"{prefix}.layers.{index}"
            normed = [rms(z, self[f"{layer}.input_latents_layernorm.weight"]) for z in latents]
            if kind == "cross":
                keys = [rms(c, self[f"{layer}.input_context_layernorm.weight"]) for c in context]
            else:
                keys = normed
            stepped = []
            for z, query in zip(latents, normed, strict=True):
                h = self.attend(f"{layer}.self_attn", query, keys)
                z = z + rms(h, self[f"{layer}.post_attention_layernorm.weight"])
                m = self.gated(f"{layer}.mlp", rms(z, self[f"{layer}.pre_ff_layernorm.weight"]))
                stepped.append(z + rms(m, self[f"{layer}.post_ff_layernorm.weight"]))
            latents = stepped
        return [rms(z, self[f"{prefix}.layernorm.weight"]) for z in latents]

    def perceive(self, features: Tensor, mask: Tensor) -> list[Tensor]:
        """features [S, D], mask [S] -> latents of one pass."""
        kept = [x for x, on in zip(features, mask.tolist(), strict=True) if on]
        projected = [self.gated("aggregator.perceiver.modality_projection", x) for x in kept]
        return self.resample("decoder", self.resample("encoder", projected))

    def latents(self, features: Tensor, mask: Tensor) -> dict[tuple[int, int, int], Tensor]:
        """One chunk -> a latent for each (layer, module, rank)."""
        config = self.config
        modules, ranks = len(config.target_modules), config.rank
        if not config.per_layer_features:
            flat = self.perceive(features, mask)
        else:
            flat = [z for layer in range(config.num_layers) for z in self.perceive(features[layer], mask)]
        keys = itertools.product(range(config.num_layers), range(modules), range(ranks))
        return dict(zip(keys, flat, strict=True))

    def residual(self, layer: int, x: Tensor) -> Tensor:
        for i in range(self.config.num_pre_head_layers):
            if self.config.per_layer_processing:
                p, (first, up, down, last) = f"layers.{i}.layers", (0, 1, 3, 4)
                w1, b1 = self[f"{p}.{up}.weight"][layer].T, self[f"{p}.{up}.bias"][0, layer, 0, 0]
                w2, b2 = self[f"{p}.{down}.weight"][layer].T, self[f"{p}.{down}.bias"][0, layer, 0, 0]
            else:
                p, (first, up, down, last) = f"layers.{i}.mlp", (0, 2, 5, 6)
                w1, b1 = self[f"{p}.{up}.weight"], self[f"{p}.{up}.bias"]
                w2, b2 = self[f"{p}.{down}.weight"], self[f"{p}.{down}.bias"]
            hidden = silu(w1 @ layer_norm(x, self[f"{p}.{first}.weight"], self[f"{p}.{first}.bias"]) + b1)
            x = x + layer_norm(w2 @ hidden + b2, self[f"{p}.{last}.weight"], self[f"{p}.{last}.bias"])
        return x

    def update(self, features: Tensor, mask: Tensor, module: str, layer: int) -> Tensor:
        """One document's chunks, [K, L, S, D] or [K, S, D] -> one layer's delta W [d_out, d_in], bias included."""
        config, m = self.config, self.config.target_modules.index(module)
        d_in, d_out = config.d_in[module], config.d_out[module]
        total = torch.zeros(d_out, d_in, dtype=torch.float64)
        for chunk, chunk_mask in zip(features, mask, strict=True):
            latents = self.latents(chunk, chunk_mask)
            for r in range(config.rank):
                x = self.residual(layer, latents[layer, m, r])
                head = self["head.weight"][layer] if len(config.target_modules) == 1 else self["head.weight"][layer, m]
                row = (x / math.sqrt(float(x @ x))) @ head
                a = row[:d_in] * self[f"scaler_A.{module}"][0, layer, r, 0]
                b = row[d_in : d_in + d_out] * self[f"scaler_B.{module}"][0, layer, r, 0]
                total += torch.outer(b, a)
        if config.use_bias:
            for r in range(config.rank):
                total += torch.outer(self[f"bias_B.{module}"][layer, r], self[f"bias_A.{module}"][layer, r])
        return config.lora_alpha * total
