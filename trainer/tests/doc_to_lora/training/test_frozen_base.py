from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest
import torch

from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.frozen_base import FrozenBase, Row

from ..tiny import tiny_model

PREFIX = [5, 9, 11, 40]
ROWS: list[Row] = [([7, 8], [9]), ([30, 31, 32, 33], [34, 35, 36]), ([3], [4])]


def expected(model: Any, row: Row, first: int) -> torch.Tensor:
    question, answer = row
    return cast(
        torch.Tensor, model(torch.tensor([PREFIX + question + answer])).logits[0, len(PREFIX) + first :].log_softmax(-1)
    )


@pytest.mark.parametrize("family", ["llama", "gemma2"])
def test_a_remembered_question_gives_the_log_probabilities_of_the_whole(family: str) -> None:
    base = FrozenBase(tiny_model(family), PREFIX)
    for _ in range(2):
        for row, hidden in zip(ROWS, base.after_questions(ROWS), strict=True):
            whole = expected(base.model, row, len(row[0]) - 1)
            assert torch.allclose(base.log_probs(hidden), whole, atol=1e-4)


@pytest.mark.parametrize("family", ["llama", "gemma2"])
@pytest.mark.parametrize("first_layer", [0, 1])
def test_a_cut_below_the_adapters_gives_the_log_probabilities_of_the_whole(family: str, first_layer: int) -> None:
    base = FrozenBase(tiny_model(family), PREFIX, first_layer)
    for row, hidden in zip(ROWS, base.whole_prompts(ROWS), strict=True):
        assert torch.allclose(base.log_probs(hidden), expected(base.model, row, 0), atol=1e-4)


def test_adapters_open_once_for_every_row_whatever_its_length() -> None:
    rows = [([7 + index] * (1 + index % 3), [9] * (1 + index * 5 % 7)) for index in range(40)]
    base = FrozenBase(tiny_model(), PREFIX, 1)
    for run in (base.after_questions, base.whole_prompts):
        opened: list[int] = []

        @contextmanager
        def adapting(group: list[int], opened: list[int] = opened) -> Iterator[None]:
            opened.extend(group)
            yield

        run(rows, adapting)
        assert sorted(opened) == list(range(40))


def test_top_k_is_of_the_positions_before_each_predicted_token() -> None:
    model = tiny_model()
    ((ids, values),) = FrozenBase(model, PREFIX).top_k([([7, 8], [9, 10])], 3)
    whole = model(torch.tensor([[*PREFIX, 7, 8, 9]])).logits[0].log_softmax(-1)[-2:].topk(3)
    assert torch.equal(ids, whole.indices)
    assert torch.allclose(values, whole.values, atol=1e-4)


def test_greedy_answers_do_not_depend_on_their_neighbours(tiny_base: Base) -> None:
    base = FrozenBase(tiny_base.model, PREFIX)
    rows = [question for question, _ in ROWS]
    together = base.greedy(rows, 2, 6)
    assert together == [base.greedy([row], 2, 6)[0] for row in rows]
    assert all(len(answer) <= 6 and 2 not in answer for answer in together)
