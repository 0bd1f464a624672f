"""The hypernetwork (sections 5 and 6): features of a document's chunks -> A and B of every layer and target module.

Attribute names are those of published checkpoints' state-dict keys (section 9).
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention, silu

from doc_to_lora.config import HypernetworkConfig, LayerKind, PerceiverAttention
from imprint_trainer.lora.adapter import Factors

EPSILON = 1e-6  # of the Perceiver's RMS norms


class RMSNorm(nn.Module):
    """x / sqrt(mean(x^2) + 1e-6) over the last dimension, in fp32 or better, times a plain weight, not 1 + w."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))  # [size]

    def forward(self, x: Tensor) -> Tensor:
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        return self.weight * (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + EPSILON)).to(x.dtype)


class GatedMlp(nn.Module):
    """down(silu(gate(x)) * up(x)), without biases (section 5.2)."""

    def __init__(self, *, d_in: int, d_hidden: int, d_out: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(d_in, d_hidden, bias=False)
        self.up_proj = nn.Linear(d_in, d_hidden, bias=False)
        self.down_proj = nn.Linear(d_hidden, d_out, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        down: Tensor = self.down_proj(silu(self.gate_proj(x)) * self.up_proj(x))
        return down


class Attention(nn.Module):
    """Grouped query heads, no positions, not causal (section 5.2). Keys and values come from the context alone, never
    from [context, latents] (section 15.2).
    """

    def __init__(self, latent_size: int, heads: PerceiverAttention) -> None:
        super().__init__()
        self.heads = heads
        self.q_proj = nn.Linear(latent_size, heads.n_heads * heads.head_dim, bias=False)
        self.k_proj = nn.Linear(latent_size, heads.num_key_value_heads * heads.head_dim, bias=False)
        self.v_proj = nn.Linear(latent_size, heads.num_key_value_heads * heads.head_dim, bias=False)
        self.o_proj = nn.Linear(heads.n_heads * heads.head_dim, latent_size, bias=False)

    def forward(self, latents: Tensor, context: Tensor, mask: Tensor | None) -> Tensor:
        """latents [B, n, d], context [B, S, d], mask [B, S] true where attended (None: everywhere) -> [B, n, d]."""
        groups = self.heads.n_heads // self.heads.num_key_value_heads
        q = self._split(self.q_proj(latents))  # [B, heads, n, head_dim]
        k = self._split(self.k_proj(context)).repeat_interleave(groups, dim=1)  # [B, heads, S, head_dim]
        v = self._split(self.v_proj(context)).repeat_interleave(groups, dim=1)
        allowed = None if mask is None else mask[:, None, None, :]  # [B, 1, 1, S]
        mixed = scaled_dot_product_attention(q, k, v, attn_mask=allowed)  # scale 1 / sqrt(head_dim)
        out: Tensor = self.o_proj(mixed.transpose(1, 2).flatten(2))
        return out

    def _split(self, x: Tensor) -> Tensor:
        return x.reshape(*x.shape[:2], -1, self.heads.head_dim).transpose(1, 2)


class ResamplerLayer(nn.Module):
    """Sandwich norms: each branch's output is normed before it joins the residual stream (section 15.6)."""

    def __init__(self, kind: LayerKind, *, latent_size: int, mlp_size: int, heads: PerceiverAttention) -> None:
        super().__init__()
        self.kind = kind
        self.input_latents_layernorm = RMSNorm(latent_size)
        if kind == "cross":
            self.input_context_layernorm = RMSNorm(latent_size)
        self.self_attn = Attention(latent_size, heads)
        self.post_attention_layernorm = RMSNorm(latent_size)
        self.pre_ff_layernorm = RMSNorm(latent_size)
        self.mlp = GatedMlp(d_in=latent_size, d_hidden=mlp_size, d_out=latent_size)
        self.post_ff_layernorm = RMSNorm(latent_size)

    def forward(self, latents: Tensor, context: Tensor, mask: Tensor | None) -> Tensor:
        """latents [B, n, d], context [B, S, d], mask [B, S] -> [B, n, d]."""
        normed = self.input_latents_layernorm(latents)
        if self.kind == "cross":
            attended = self.self_attn(normed, self.input_context_layernorm(context), mask)
        else:
            attended = self.self_attn(normed, normed, None)
        latents = latents + self.post_attention_layernorm(attended)
        out: Tensor = latents + self.post_ff_layernorm(self.mlp(self.pre_ff_layernorm(latents)))
        return out


class Resampler(nn.Module):
    """Learned latents, shared by the batch, passed through the layers and a final norm (section 5.2)."""

    def __init__(
        self, kinds: Sequence[LayerKind], *, n_latents: int, latent_size: int, mlp_size: int, heads: PerceiverAttention
    ) -> None:
        super().__init__()
        self.latents_q = nn.Parameter(torch.empty(n_latents, latent_size))  # [n, d]
        self.layers = nn.ModuleList(
            ResamplerLayer(kind, latent_size=latent_size, mlp_size=mlp_size, heads=heads) for kind in kinds
        )
        self.layernorm = RMSNorm(latent_size)

    def forward(self, context: Tensor, mask: Tensor | None = None) -> Tensor:
        """context [B, S, d], mask [B, S] -> [B, n, d]."""
        latents = self.latents_q.expand(context.shape[0], -1, -1)
        for layer in self.layers:
            latents = layer(latents, context, mask)
        out: Tensor = self.layernorm(latents)
        return out


class Perceiver(nn.Module):
    """Projection, encoder resampler, decoder resampler (section 5.2)."""

    def __init__(self, config: HypernetworkConfig) -> None:
        super().__init__()
        self.modality_projection = GatedMlp(
            d_in=config.feature_size, d_hidden=config.projection_size, d_out=config.latent_size
        )
        self.encoder = Resampler(
            config.encoder_layers,
            n_latents=config.n_latent_queries,
            latent_size=config.latent_size,
            mlp_size=config.perceiver_mlp_size,
            heads=config.attention,
        )
        self.decoder: Resampler | None = None
        if config.decoder_layers:
            self.decoder = Resampler(
                config.decoder_layers,
                n_latents=config.output_latents,
                latent_size=config.latent_size,
                mlp_size=config.perceiver_mlp_size,
                heads=config.attention,
            )

    def encode(self, features: Tensor, mask: Tensor) -> Tensor:
        """features [B, S, D], mask [B, S] -> the encoder's latents after its final norm, [B, n_latent_queries, d]."""
        encoded: Tensor = self.encoder(self.modality_projection(features), mask)
        return encoded

    def decode(self, encoded: Tensor) -> Tensor:
        """[B, n_latent_queries, d] -> [B, output_latents, d]; without a decoder the latents are the ranks already."""
        if self.decoder is None:
            return encoded
        decoded: Tensor = self.decoder(encoded)
        return decoded


class Aggregator(nn.Module):
    """Features of all layers through one shared Perceiver (section 5.1).

    There is no layer embedding: with per-layer features, a layer's identity enters in the head alone.
    """

    def __init__(self, config: HypernetworkConfig) -> None:
        super().__init__()
        self.config = config
        self.perceiver = Perceiver(config)

    def encode(self, features: Tensor, mask: Tensor, *, iterative: bool = False) -> Tensor:
        """features [K, L, S, D], mask [K, S] -> [L*K, n, d] layer-major; early exit [K, S, D] -> [K, n, d].

        `iterative` takes the layers one by one: the same numbers with 1/L of the memory.
        """
        attended = mask.bool()
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


class PerLayerLinear(nn.Module):
    """A Linear of its own for each base model layer: x [K, L, M, r, i] -> [K, L, M, r, h]."""

    def __init__(self, *, layers: int, d_in: int, d_out: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(layers, d_in, d_out))  # [L, i, h]
        self.bias = nn.Parameter(torch.empty(1, layers, 1, 1, d_out))

    def forward(self, x: Tensor) -> Tensor:
        return torch.einsum("klmri,lih->klmrh", x, self.weight) + self.bias


class PerLayerResidualMlp(nn.Module):
    """x + LN(W2 silu(W1 LN(x) + b1) + b2) (section 6.1): separate Linears for each base model layer, shared LayerNorms.
    Keys: `layers.{0,1,3,4}`.
    """

    def __init__(self, *, layers: int, size: int, hidden: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.LayerNorm(size),
            PerLayerLinear(layers=layers, d_in=size, d_out=hidden),
            nn.SiLU(),
            PerLayerLinear(layers=layers, d_in=hidden, d_out=size),
            nn.LayerNorm(size),
        )

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = x + self.layers(x)
        return out


class SharedResidualMlp(nn.Module):
    """The same with one block for all base model layers. Keys: `mlp.{0,2,5,6}`; 1 and 4 are dropouts there."""

    def __init__(self, *, size: int, hidden: int) -> None:
        super().__init__()
        self.mlp = nn.Sequential(
            nn.LayerNorm(size),
            nn.Identity(),
            nn.Linear(size, hidden),
            nn.SiLU(),
            nn.Identity(),
            nn.Linear(hidden, size),
            nn.LayerNorm(size),
        )

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = x + self.mlp(x)
        return out


class Head(nn.Module):
    """Latents to the rows of A and B (section 6.3): a matrix for each layer (and module), the same one for every rank.
    Bias-free; weight [L, d, d_lora] for one target module, [L, M, d, d_lora] for several.
    """

    def __init__(self, *, layers: int, modules: int, size: int, d_lora: int) -> None:
        super().__init__()
        shape = (layers, size, d_lora) if modules == 1 else (layers, modules, size, d_lora)
        self.weight = nn.Parameter(torch.empty(shape))

    def forward(self, x: Tensor) -> Tensor:
        """[K, L, M, r, d] -> [K, L, M, r, d_lora]."""
        equation = "klmrd,ldo->klmro" if self.weight.dim() == 3 else "klmrd,lmdo->klmro"
        return torch.einsum(equation, x, self.weight)


class Hypernetwork(nn.Module):
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

    def forward(self, features: Tensor, mask: Tensor, *, iterative: bool = False) -> dict[str, Factors]:
        """features [K, L, S, D] (early exit [K, S, D]), mask [K, S] -> A [K, L, r, d_in], B [K, L, r, d_out] by module.

        In the parameters' dtype: the reference runs the aggregator in bf16 on a GPU, which moves A and B by about 2 %.
        """
        latents = self.aggregator(features.to(self.head.weight.dtype), mask, iterative=iterative)
        return self.generate(self.pre_head(latents))

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
