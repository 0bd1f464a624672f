"""Exposure by rank (Carlini et al. 2019, The Secret Sharer): where a canary stands among all that it could be."""

import copy
import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.privacy.question import Question

TOGETHER = 16  # answers read at one time, side by side after one prompt


@torch.inference_mode()
def losses(model: CausalLM, question: Question, device: torch.device) -> list[float]:
    """Negative log likelihood of each answer after the prompt, nats."""
    *read, last = question.prompt
    cache = model(input_ids=torch.tensor([read], device=device), use_cache=True).past_key_values
    found: list[float] = []
    for first in range(0, len(question.answers), TOGETHER):
        answers = question.answers[first : first + TOGETHER]
        inputs = [token for answer in answers for token in (last, *answer[:-1])]
        owners = torch.tensor([index for index, answer in enumerate(answers) for _ in answer], device=device)
        positions = [len(read) + place for answer in answers for place in range(len(answer))]
        logits = model(
            input_ids=torch.tensor([inputs], device=device),
            position_ids=torch.tensor([positions], device=device),
            attention_mask=side_by_side(owners, len(read), model.dtype),
            past_key_values=copy.deepcopy(cache),
            use_cache=True,
        ).logits[0]
        wanted = torch.tensor([token for answer in answers for token in answer], device=device)
        each = F.cross_entropy(logits.float(), wanted, reduction="none")
        found.extend(torch.zeros(len(answers), device=device).index_add(0, owners, each).tolist())
    return found


def side_by_side(owners: Tensor, prompt: int, dtype: torch.dtype) -> Tensor:
    """The mask [1, 1, n, prompt + n] with which each token sees the prompt, and of the others those before it that
    belong to the same answer."""
    same = (owners.unsqueeze(0) == owners.unsqueeze(1)).tril()
    seen = torch.cat([same.new_ones(len(owners), prompt), same], dim=1)
    hidden = torch.zeros(seen.shape, dtype=dtype, device=owners.device).masked_fill(~seen, torch.finfo(dtype).min)
    return hidden[None, None]


def rank_of_first(losses: Sequence[float]) -> int:
    """1 when the model likes none of the others better."""
    return 1 + sum(other < losses[0] for other in losses[1:])


def exposure(rank: int, candidates: int) -> float:
    """Bits of the canary that the model gives away, of at most log2(candidates + 1)."""
    return math.log2(candidates + 1) - math.log2(rank)
