"""Attention of latents to a context (section 5.2): grouped query heads, no positions, not causal."""

from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from imprint_trainer.doc_to_lora.config import PerceiverAttention


class Attention(nn.Module):
    """Keys and values come from the context alone, never from [context, latents] (section 15.2)."""

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
