import random
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.synthetic import (
    KINDS,
    NUMERIC_KINDS,
    Fact,
    Novelty,
    make_examples,
    make_fact,
    make_facts,
)
from imprint_trainer.doc_to_lora.training.vocabulary import (
    FIRST_NAMES,
    HELD_OUT,
    NOUNS,
    PARTS,
    Words,
    split,
    vocabulary_of,
)
from imprint_trainer.doc_to_lora.training.wordings import (
    ASKING,
    HELD_OUT_QUESTIONS,
    NAMES,
    QUESTIONS,
    TELLING,
    free_wording,
)

TRAINING = Novelty()
ALL_NEW = Novelty(values=True, entities=True, wordings=True)
seeds = st.integers(0, 2**32)
VOCABULARY = ("harbor", "window", "blossom", "quick", "signal")
novelties = st.builds(
    Novelty,
    values=st.booleans(),
    entities=st.booleans(),
    wordings=st.booleans(),
    vocabulary=st.sampled_from([(), VOCABULARY]),
)


@given(seeds, novelties, st.integers(1, 4), st.integers(0, 20))
@settings(max_examples=300)
def test_the_document_holds_the_answer_and_the_question_does_not(
    seed: int, novelty: Novelty, facts: int, fillers: int
) -> None:
    examples = make_examples(random.Random(seed), facts=facts, fillers=fillers, asked=facts, novelty=novelty)
    assert len(examples) == facts
    for example in examples:
        assert example.answer in example.document
        assert example.answer.lower() not in example.question.lower()


def test_values_for_the_evaluation_never_occur_in_training() -> None:
    rng = random.Random(0)
    for kind in KINDS:
        trained = {make_fact(rng, TRAINING, kind).value for _ in range(3000)}
        tested = {make_fact(rng, Novelty(values=True), kind).value for _ in range(300)}
        assert len(tested) > 5
        assert not trained & tested


def test_no_number_is_in_both_parts() -> None:
    for kind in NUMERIC_KINDS:
        rng = random.Random(1)
        trained = {make_fact(rng, TRAINING, kind).value for _ in range(20_000)}
        tested = {make_fact(rng, Novelty(values=True), kind).value for _ in range(5_000)}
        assert not trained & tested


def test_entities_for_the_evaluation_never_occur_in_training() -> None:
    rng = random.Random(2)
    trained = {make_fact(rng, TRAINING).entity.lower() for _ in range(3000)}
    tested = {make_fact(rng, Novelty(entities=True)).entity.lower() for _ in range(300)}
    assert not trained & tested
    words = {word for entity in tested for word in re.split(r"[ -]", entity)} - {"the", "project", "service"}
    assert words <= set(split(NOUNS, True)) | set(split(PARTS, True))


def test_wordings_for_the_evaluation_never_occur_in_training() -> None:
    assert not set(QUESTIONS) & set(HELD_OUT_QUESTIONS)
    assert not [(lead, held) for lead in ASKING + TELLING for held in HELD_OUT_QUESTIONS if held.startswith(lead)]
    rng = random.Random(3)
    trained = {make_fact(rng, TRAINING).name for _ in range(2000)}
    trained |= {make_fact(rng, Novelty(vocabulary=VOCABULARY)).name for _ in range(2000)}
    tested = {make_fact(rng, ALL_NEW).name for _ in range(200)}
    assert tested == {names[-1] for names in NAMES.values()}
    assert not trained & tested


def test_trainings_ask_in_thousands_of_wordings_and_evaluations_in_listed_ones() -> None:
    rng = random.Random(4)
    free = {free_wording(rng) for _ in range(5000)}
    assert len(free) > 3000
    assert all("{name}" in wording and "{entity}" in wording for wording in free)
    for novelty, listed in ((Novelty(vocabulary=VOCABULARY), False), (Novelty(values=True), True)):
        facts = [make_fact(rng, novelty) for _ in range(300)]
        assert all(fact.name in NAMES[fact.kind] for fact in facts) == listed
        assert all(asked_as_listed(fact) for fact in facts) == listed


def asked_as_listed(fact: Fact) -> bool:
    asked = (wording.format(name=fact.name, entity=fact.entity) for wording in QUESTIONS)
    return any(fact.question.lower().startswith(question.lower()) for question in asked)


@given(seeds, st.integers(2, 4))
def test_facts_of_a_document_are_about_different_things(seed: int, count: int) -> None:
    facts = make_facts(random.Random(seed), count, TRAINING)
    assert len({fact.subject for fact in facts}) == len({fact.value for fact in facts}) == count


def test_the_first_question_asks_for_the_wanted_kind() -> None:
    for seed in range(20):
        example = make_examples(random.Random(seed), facts=3, fillers=1, asked=3, novelty=TRAINING, kind="port")[0]
        assert example.kind == "port"


def test_facts_share_a_kind_as_often_as_asked_for_and_never_an_entity() -> None:
    def shared(alike: float) -> float:
        documents = [make_facts(random.Random(seed), 2, TRAINING, alike=alike) for seed in range(300)]
        assert all(first.subject != second.subject for first, second in documents)
        return sum(first.kind == second.kind for first, second in documents) / len(documents)

    assert shared(1.0) == 1.0
    assert 0.4 < shared(0.4) < 0.6  # 0.4, and one in eight of the others
    assert shared(0.0) < 0.25


def test_both_parts_of_a_vocabulary_make_the_whole() -> None:
    for words in (NOUNS, PARTS, FIRST_NAMES):
        assert sorted(split(words, True) + split(words, False)) == sorted(words)
        assert len(set(words)) == len(words)


def test_words_of_the_base_are_copied_from_too_and_none_is_held_out() -> None:
    rng = random.Random(0)
    mixed = Words(vocabulary=("sesquipedalian", "antidote"))
    drawn = {mixed.noun(rng) for _ in range(2000)}
    assert {"sesquipedalian", "antidote"} < drawn
    assert len(drawn - {"sesquipedalian", "antidote"} - set(NOUNS)) > 100  # invented ones
    assert not drawn & set(split(NOUNS, True))
    assert {Words(held_out=True, vocabulary=("antidote",)).noun(rng) for _ in range(500)} == set(split(NOUNS, True))


def test_a_vocabulary_is_whole_words_without_those_held_out(tiny_base: Base) -> None:
    found = vocabulary_of(tiny_base.tokenizer)
    assert {"zebra", "hugo"} <= HELD_OUT
    assert list(found) == sorted(set(found))
    assert all(word.isalpha() and word.islower() and word not in HELD_OUT for word in found)
