"""A stack of attention layers over learned latents (section 5.2)."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from imprint_trainer.doc_to_lora.attention import Attention
from imprint_trainer.doc_to_lora.config import LayerKind, PerceiverAttention
from imprint_trainer.doc_to_lora.gated_mlp import GatedMlp
from imprint_trainer.doc_to_lora.norm import RMSNorm


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
    """Learned latents, shared by the batch, passed through the layers and a final norm."""

    def __init__(
        self,
        kinds: Sequence[LayerKind],
        *,
        n_latents: int,
        latent_size: int,
        mlp_size: int,
        heads: PerceiverAttention,
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
