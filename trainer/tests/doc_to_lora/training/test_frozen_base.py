import torch

from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.frozen_base import FrozenBase
from imprint_trainer.doc_to_lora.training.padding import pad

from ..tiny import tiny_model

PREFIX = [5, 9, 11, 40]
ROWS = [[7, 8, 9], [30, 31, 32, 33, 34]]


def test_a_cached_prefix_gives_the_log_probabilities_of_the_whole() -> None:
    for family in ("llama", "gemma2"):
        model = tiny_model(family)
        base = FrozenBase(model, PREFIX)
        hidden = base.hidden(*pad(ROWS))
        for row, states in zip(ROWS, hidden, strict=True):
            whole = model(torch.tensor([PREFIX + row])).logits[0, len(PREFIX) :].log_softmax(-1)
            assert torch.allclose(base.log_probs(states[: len(row)]), whole, atol=1e-4)


def test_top_k_is_of_the_positions_before_each_predicted_token() -> None:
    model = tiny_model()
    ((ids, values),) = FrozenBase(model, PREFIX).top_k([([7, 8], [9, 10])], 3)
    whole = model(torch.tensor([[*PREFIX, 7, 8, 9]])).logits[0].log_softmax(-1)[-2:].topk(3)
    assert torch.equal(ids, whole.indices)
    assert torch.allclose(values, whole.values, atol=1e-4)


def test_greedy_answers_do_not_depend_on_their_neighbours(tiny_base: Base) -> None:
    base = FrozenBase(tiny_base.model, PREFIX)
    together = base.greedy(ROWS, 2, 6)
    assert together == [base.greedy([row], 2, 6)[0] for row in ROWS]
    assert all(len(answer) <= 6 and 2 not in answer for answer in together)
