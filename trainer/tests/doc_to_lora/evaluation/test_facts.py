import random

import pytest

from imprint_trainer.doc_to_lora.document import document_text
from imprint_trainer.doc_to_lora.evaluation.facts import SETS, as_session, is_right, is_sealed_number, make_facts, says
from imprint_trainer.doc_to_lora.evaluation.lists import KINDS
from imprint_trainer.doc_to_lora.training.synthetic import Novelty, make_fact


@pytest.mark.parametrize("name", SETS)
def test_a_document_states_the_value_that_no_question_holds(name: str) -> None:
    for fact in make_facts(SETS[name], 60, 3):
        document = document_text(as_session(fact, SETS[name], 3))
        assert says(document, fact.value)
        for question in (fact.question, fact.elsewhere):
            assert fact.value not in question and fact.other not in question
        assert fact.value != fact.other
        assert fact.question != fact.elsewhere
        assert "{" not in document + fact.question


def test_facts_are_a_function_of_the_seed_and_take_kinds_in_turn() -> None:
    facts = make_facts(SETS["dev"], 3, 1)
    assert facts == make_facts(SETS["dev"], 3, 1)
    assert facts != make_facts(SETS["dev"], 3, 2)
    assert [fact.kind for fact in facts] == [*KINDS] * 3


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("It is 7413.", True),
        ("`7413`", True),
        ("port:7413", True),
        ("17413", False),
        ("7413.2", False),
        ("7413-b", False),
        ("7412", False),
    ],
)
def test_a_value_is_said_where_it_stands_by_itself(answer: str, said: bool) -> None:
    assert says(answer, "7413") == said


def test_an_answer_that_also_says_what_the_value_is_not_is_wrong() -> None:
    fact = make_facts(SETS["dev"], 1, 0)[4]
    assert is_right(f"In {fact.value}, I think.", fact)
    assert not is_right(f"{fact.value} or {fact.other}", fact)
    assert not is_right(fact.value + "/more", fact)
    assert not is_right("", fact)


def test_training_states_no_number_of_a_set() -> None:
    rng = random.Random(0)
    stated = {int(make_fact(rng, Novelty(), kind).value) for kind in ("code", "port", "limit") for _ in range(2000)}
    assert len(stated) > 1000
    assert not [number for number in stated if is_sealed_number(number, 0) or is_sealed_number(number, 1)]
    assert not [number for number in range(65536) if is_sealed_number(number, 0) and is_sealed_number(number, 1)]
