"""Exposure by rank (Carlini et al. 2019, The Secret Sharer): how a model likes a canary among all that it could have been."""

import copy
import math
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F

from imprint_trainer.privacy.question import Question

BATCH = 32  # answers read at one time: each holds a copy of the prompt's cache


@torch.inference_mode()
def losses(model: Any, question: Question, device: torch.device) -> list[float]:
    """Negative log likelihood of each answer after the prompt, nats."""
    prompt = torch.tensor([question.prompt], device=device)
    cache = model(input_ids=prompt[:, :-1], use_cache=True).past_key_values
    found: list[float] = []
    for first in range(0, len(question.answers), BATCH):
        answers = question.answers[first : first + BATCH]
        longest = max(map(len, answers))
        # Shorter ones are filled up at their end, where nothing that counts can see it.
        wanted = torch.tensor([(*ids, *(-100,) * (longest - len(ids))) for ids in answers], device=device)
        begun = prompt[:, -1:].expand(len(answers), 1)
        inputs = torch.cat([begun, wanted[:, :-1].clamp(min=0)], dim=1)
        copies = copy.deepcopy(cache)
        copies.batch_repeat_interleave(len(answers))
        logits = model(input_ids=inputs, past_key_values=copies, use_cache=True).logits.float()
        summed = F.cross_entropy(logits.transpose(1, 2), wanted, reduction="none", ignore_index=-100).sum(dim=1)
        found.extend(summed.tolist())
    return found


def rank_of_first(losses: Sequence[float]) -> int:
    """1 when the model likes none of the others better."""
    return 1 + sum(other < losses[0] for other in losses[1:])


def exposure(rank: int, candidates: int) -> float:
    """Bits of the canary that the model gives away, of at most log2(candidates + 1)."""
    return math.log2(candidates + 1) - math.log2(rank)
