import torch
from hypothesis import given
from hypothesis import strategies as st

from imprint_trainer.available_memory import available_bytes
from imprint_trainer.doc_to_lora.training.remembered import Pairs, RememberedQuestions, room_for_questions, size_of


def read(ids: list[int]) -> Pairs:
    """One layer, one head, one number a token: eight bytes a token."""
    sides = torch.tensor(ids, dtype=torch.float32).reshape(1, -1, 1)
    return [(sides.clone(), sides.clone())]


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=4), max_size=40), st.integers(0, 80))
def test_whatever_is_forgotten_every_question_has_its_own_pairs_and_the_room_is_kept(
    questions: list[list[int]], room: int
) -> None:
    remembered = RememberedQuestions(room)
    for ids in questions:
        ((keys, values),) = remembered.pairs(ids, read)
        assert keys.flatten().tolist() == values.flatten().tolist() == ids
        assert remembered.bytes <= room


def test_the_question_that_was_not_asked_for_longest_is_forgotten() -> None:
    reads: list[list[int]] = []

    def noted(ids: list[int]) -> Pairs:
        reads.append(ids)
        return read(ids)

    remembered = RememberedQuestions(room=2 * size_of(read([1])))
    for question in ([1], [2], [1], [3], [1], [2]):
        remembered.pairs(question, noted)
    assert reads == [[1], [2], [3], [2]]


def test_the_room_is_less_than_half_of_the_memory_that_is_free() -> None:
    free = available_bytes()
    assert 0 < room_for_questions(torch.device("cpu")) < free / 2
