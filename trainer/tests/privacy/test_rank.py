import math
import random

import pytest
import torch

from imprint_trainer.models.base import LoadedBase
from imprint_trainer.privacy.question import Question
from imprint_trainer.privacy.rank import exposure, losses, rank_of_first


def brute_force(base: LoadedBase, question: Question) -> list[float]:
    """Each answer read alone, with its prompt, without a cache."""
    found = []
    for answer in question.answers:
        ids = torch.tensor([question.prompt + answer])
        with torch.no_grad():
            chances = torch.log_softmax(base.model(input_ids=ids).logits[0].float(), dim=-1)
        first = len(question.prompt)
        found.append(-sum(float(chances[first - 1 + i, token]) for i, token in enumerate(answer)))
    return found


def test_losses_equal_those_of_reading_each_answer_alone(base: LoadedBase) -> None:
    source = random.Random(3)

    def ids(length: int) -> tuple[int, ...]:
        return tuple(source.randrange(10, 300) for _ in range(length))

    question = Question(ids(40), tuple(ids(source.randrange(1, 12)) for _ in range(70)))
    assert losses(base.model, question, base.device) == pytest.approx(brute_force(base, question), rel=1e-4)


def test_the_rank_counts_what_the_model_likes_better() -> None:
    assert rank_of_first([1.0, 2.0, 3.0]) == 1
    assert rank_of_first([2.5, 2.0, 3.0, 1.0]) == 3
    assert rank_of_first([2.0, 2.0]) == 1


def test_exposure_is_all_bits_for_the_first_and_none_for_the_last() -> None:
    assert exposure(1, 511) == 9
    assert exposure(512, 511) == 0
    assert exposure(2, 511) == pytest.approx(math.log2(512) - 1)
