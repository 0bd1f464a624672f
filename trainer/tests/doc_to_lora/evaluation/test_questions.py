import pytest

from imprint_trainer.doc_to_lora.evaluation.question_cases import distinctive
from imprint_trainer.doc_to_lora.evaluation.questions import Question, questions


def test_there_are_enough_candidates_each_of_them_once() -> None:
    texts = [question.text for question in questions()]
    assert len(texts) == len(set(texts)) >= 500
    assert all(question.answers and all(question.answers) for question in questions())
    assert not [text for text in texts if "{}" in text]


def test_no_question_holds_its_answer() -> None:
    assert not [question for question in questions() if question.is_right(question.text)]


@pytest.mark.parametrize(
    ("wanted", "answer", "right"),
    [
        ("four", "The answer is Four.", True),
        ("4", "2 + 2 = 4", True),
        ("4", "14", False),
        ("O", "O.", True),
        ("O", "an oxygen atom", False),
        ("ice", "It is called ice.", True),
        ("ice", "Nice!", False),
        ("mitochondri", "the mitochondrion", True),
        ("C++", "It is c++.", True),
        ("La Paz", "la paz", True),
    ],
)
def test_answers_are_looked_for_as_whole_words_and_stems(wanted: str, answer: str, right: bool) -> None:
    assert Question("?", ("nothing of it", wanted)).is_right(answer) == right


def test_paths_identifiers_versions_and_numbers_are_what_answers_do_not_have_by_chance() -> None:
    text = "The wharf is at src/quay.py, in moor_all of 2.14.1 on 7413; see-saw or 12."
    assert distinctive(text) == {"src/quay.py", "moor_all", "2.14.1", "7413", "see-saw"}
