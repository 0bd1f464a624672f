import math

import torch

from imprint_trainer.doc_to_lora.training.loss import answer_loss, distillation_loss, per_context_mean


def logs(rows: int, size: int, seed: int) -> torch.Tensor:
    return torch.randn(rows, size, generator=torch.Generator().manual_seed(seed)).log_softmax(-1)


def test_the_answers_loss_is_the_mean_cross_entropy() -> None:
    log_probs, targets = logs(3, 5, 0), [4, 0, 2]
    naive = sum(-float(log_probs[t, target]) for t, target in enumerate(targets)) / 3
    assert math.isclose(float(answer_loss(log_probs, torch.tensor(targets))), naive, rel_tol=1e-6)


def test_distillation_is_the_divergence_from_the_truncated_teacher() -> None:
    student, teacher = logs(2, 6, 1), logs(2, 6, 2).topk(3)
    naive = 0.0
    for t in range(2):
        for log_p, index in zip(teacher.values[t].tolist(), teacher.indices[t].tolist(), strict=True):
            naive += math.exp(log_p) * (log_p - float(student[t, index])) / 2
    assert math.isclose(float(distillation_loss(student, teacher.indices, teacher.values)), naive, rel_tol=1e-5)


def test_distillation_of_oneself_is_zero_with_a_flat_gradient_towards_it() -> None:
    teacher = logs(2, 6, 3)
    full = teacher.topk(6)
    logits = teacher.clone().requires_grad_()
    loss = distillation_loss(logits.log_softmax(-1), full.indices, full.values)
    loss.backward()
    assert abs(float(loss.detach())) < 1e-6
    assert logits.grad is not None
    assert float(logits.grad.abs().max()) < 1e-6


def test_each_context_counts_once_however_many_rows_it_has() -> None:
    losses = [torch.tensor(value) for value in (1.0, 3.0, 10.0)]
    assert float(per_context_mean(losses, [0, 0, 2], 4)) == (2.0 + 10.0) / 4
