import itertools

import pytest
import torch

from imprint_trainer.errors import Cancelled
from imprint_trainer.generation.generate import generate, until
from imprint_trainer.generation.prompt import end_tokens
from imprint_trainer.models.causal_lm import LoadedBase

PROMPTS = [(1, 50, 60, 70), (1, 80), tuple(range(30, 60)), (1, 99, 12)]


def step_by_step(base: LoadedBase, prompt: tuple[int, ...], tokens: int) -> list[int]:
    ids = list(prompt)
    with torch.no_grad():
        for _ in range(tokens):
            token = int(base.model(input_ids=torch.tensor([ids])).logits[0, -1].argmax())
            if token in end_tokens(base):
                break
            ids.append(token)
    return ids[len(prompt) :]


def test_answers_side_by_side_are_those_of_each_alone(base: LoadedBase) -> None:
    alone = [step_by_step(base, prompt, 12) for prompt in PROMPTS]
    assert generate(base.model, base, PROMPTS, 12, lambda: None) == alone


def test_an_answer_ends_before_its_end_of_turn_token() -> None:
    assert until([5, 6, 2, 7, 2], frozenset({2})) == [5, 6]
    assert until([5, 6], frozenset({2})) == [5, 6]


def test_a_cancel_is_heard_between_tokens(base: LoadedBase) -> None:
    asked = itertools.count(1)

    def stop() -> None:
        if next(asked) == 3:
            raise Cancelled

    with pytest.raises(Cancelled):
        generate(base.model, base, PROMPTS, 12, stop)
    assert next(asked) == 4
