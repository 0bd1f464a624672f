"""Losses of one batch: documents through the hypernetwork, questions through the base model with its own LoRA."""

from contextlib import AbstractContextManager
from dataclasses import dataclass

import torch
from torch import Tensor

from imprint_trainer.doc_to_lora.apply import applied
from imprint_trainer.doc_to_lora.encoder import encode
from imprint_trainer.doc_to_lora.merge import merge_batch
from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.doc_to_lora.training.batches import Batch
from imprint_trainer.doc_to_lora.training.config import HypernetworkTrainingConfig
from imprint_trainer.doc_to_lora.training.frozen_base import FrozenBase, groups
from imprint_trainer.doc_to_lora.training.loss import answer_loss, distillation_loss, per_context_mean
from imprint_trainer.doc_to_lora.training.padding import pad
from imprint_trainer.doc_to_lora.training.prompts import Prompts
from imprint_trainer.lora.factors import Factors
from imprint_trainer.models.causal_lm import CausalLM


@dataclass(frozen=True)
class Losses:
    """Scalars of a step, or of a part of it: those of all parts add up (L1's but for what padding adds to its mean).
    `total` is what is minimised."""

    total: Tensor
    answer: Tensor
    retention: Tensor


def compute_losses(
    hypernetwork: Hypernetwork, base: FrozenBase, prompts: Prompts, batch: Batch, config: HypernetworkTrainingConfig
) -> Losses:
    """Differentiable in the hypernetwork's parameters."""
    factors = generate_factors(hypernetwork, base.model, batch.chunks, batch.chunk_counts)
    contexts = [row.context for row in batch.answers] + [held.context for held in batch.retention]
    rows = [(row.question, row.answer) for row in batch.answers]
    rows += [(held.row.question, held.row.answer) for held in batch.retention]

    def adapting(rows: list[int]) -> AbstractContextManager[None]:
        return applied(base.model, for_rows(factors, [contexts[row] for row in rows]), hypernetwork.config)

    run = base.whole_prompts if batch.whole_prompt else base.after_questions
    hidden = run(rows, adapting)
    firsts = [0 if batch.whole_prompt else len(question) - 1 for question, _ in rows]  # positions of hidden[i][0]
    offset, device = len(batch.answers), base.model.device
    teacher = distil_targets(base, prompts, batch, config)
    spans = [hidden[i][len(row.question) - 1 - firsts[i] : -1] for i, row in enumerate(batch.answers)]
    for i, held in enumerate(batch.retention, start=offset):
        spans.append(hidden[i][[position - firsts[i] for position in held.positions]])
    log_probs = torch.split(base.log_probs(torch.cat(spans)), [len(span) for span in spans])

    answers = []
    for index, row in enumerate(batch.answers):
        loss = answer_loss(log_probs[index], torch.tensor(row.answer, device=device))
        if teacher:
            share = config.distillation_weight
            loss = (1 - share) * loss + share * distillation_loss(log_probs[index], *teacher[index])
        answers.append(loss)
    answer = per_context_mean(answers, contexts[:offset], config.documents)
    kept = [
        distillation_loss(
            own, held.row.targets[held.positions].to(device), held.row.log_probs[held.positions].to(device)
        )
        for own, held in zip(log_probs[offset:], batch.retention, strict=True)
    ]
    retention = torch.stack(kept).sum() / batch.held_in_step if kept else answer.new_zeros(())
    size = torch.stack([pair.A.abs().mean() + pair.B.abs().mean() for pair in factors.values()]).sum()
    l1 = config.l1 * len(batch.chunk_counts) / config.documents
    return Losses(answer + batch.retention_weight * retention + l1 * size, answer.detach(), retention.detach())


def generate_factors(
    hypernetwork: Hypernetwork, model: CausalLM, chunks: list[list[int]], chunk_counts: list[int]
) -> dict[str, Factors]:
    """Chunks of all documents, in order -> merged factors [N, L, R, d]."""
    order, parts = [], []
    _, mask = pad(chunks)
    for group in groups([len(chunk) for chunk in chunks]):
        ids, own = (x.to(model.device) for x in pad([chunks[index] for index in group]))
        features = encode(model, ids, own, hypernetwork.config)
        parts.append(torch.nn.functional.pad(features, (0, 0, 0, mask.shape[1] - ids.shape[1])))
        order += group
    features = torch.cat(parts)[torch.tensor(order).argsort()]
    chunk_factors = hypernetwork(features, mask.to(model.device))
    return merge_batch(hypernetwork, chunk_factors, chunk_counts)


def for_rows(factors: dict[str, Factors], contexts: list[int]) -> dict[str, Factors]:
    """Factors [N, L, R, d] -> [L, rows, R, d]: each row gets its own document's update."""
    return {
        module: Factors(pair.A[contexts].transpose(0, 1), pair.B[contexts].transpose(0, 1))
        for module, pair in factors.items()
    }


def distil_targets(
    base: FrozenBase, prompts: Prompts, batch: Batch, config: HypernetworkTrainingConfig
) -> list[tuple[Tensor, Tensor]]:
    """The teacher's top k for every answer, with the document in its prompt; empty where nothing is distilled."""
    if config.distillation_weight == 0:
        return []
    rows = [(prompts.with_document(row.example.document, row.example.question), row.answer) for row in batch.answers]
    return base.top_k(rows, config.top_k)
