"""Losses that hold an adapted model to its base."""

import torch
from torch import Tensor
from torch.nn.functional import relu


def tail(log_probs: Tensor) -> Tensor:
    """Log-probability of everything but the k ids given [..., k] -> [...]."""
    return torch.log1p(-log_probs.exp().sum(-1).clamp(max=1 - 1e-6))


def tail_divergence(log_probs: Tensor, top_ids: Tensor, top_log_probs: Tensor) -> Tensor:
    """KL(base || adapted) over the base's top k and one bucket for the rest, mean over T: never negative, zero where
    both agree. log_probs [T, V], top_ids and top_log_probs [T, k]."""
    own = log_probs.gather(1, top_ids)
    found = torch.cat([own, tail(own)[:, None]], dim=1)
    wanted = torch.cat([top_log_probs, tail(top_log_probs)[:, None]], dim=1)
    return (wanted.exp() * (wanted - found)).sum(-1).mean()


def top_token_hinge(log_probs: Tensor, top_ids: Tensor) -> Tensor:
    """How far the adapted model's likeliest token is above the base's (column 0 of `top_ids`), nats, mean over T."""
    kept = log_probs.gather(1, top_ids[:, :1]).squeeze(1)
    return (log_probs.max(-1).values - kept).mean()


def rise(nll: Tensor, base_nll: Tensor) -> Tensor:
    """By how much tokens got worse, those that got better counting nothing; mean over [T]."""
    return relu(nll - base_nll).mean()
