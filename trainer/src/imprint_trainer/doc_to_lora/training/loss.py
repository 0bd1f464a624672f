"""Losses of a step (section 11.1): tokens averaged within a row, rows within a context, contexts within the step."""

import torch
from torch import Tensor


def answer_loss(log_probs: Tensor, targets: Tensor) -> Tensor:
    """log_probs [T, V], targets [T] -> mean cross-entropy in nats."""
    return -log_probs.gather(1, targets[:, None]).mean()


def distillation_loss(log_probs: Tensor, top_ids: Tensor, top_log_probs: Tensor) -> Tensor:
    """Mean over T of - sum_k p_k log q_k + sum_k p_k log p_k: zero where student and truncated teacher agree.

    log_probs [T, V], top_ids and top_log_probs [T, k]; p is not renormalised (section 11.1).
    """
    p = top_log_probs.exp()
    return (p * (top_log_probs - log_probs.gather(1, top_ids))).sum(-1).mean()


def per_context_mean(losses: list[Tensor], contexts: list[int], count: int) -> Tensor:
    """Row losses -> mean over each context's rows, summed, over `count` contexts."""
    stacked = torch.stack(losses)
    index = torch.tensor(contexts, device=stacked.device)
    sums = stacked.new_zeros(count).index_add(0, index, stacked)
    rows = stacked.new_zeros(count).index_add(0, index, torch.ones_like(stacked))
    return (sums / rows.clamp(min=1)).sum() / count
