"""No content word of a set stands in the other one, or in anything that training is told in words."""

import ast
from itertools import combinations
from pathlib import Path

import pytest

import imprint_trainer.doc_to_lora.training as training
from imprint_trainer.doc_to_lora.evaluation.facts import SETS
from imprint_trainer.doc_to_lora.evaluation.lists import FactLists, words, words_in
from imprint_trainer.doc_to_lora.evaluation.questions import questions
from imprint_trainer.doc_to_lora.training.unrelated import ANIMALS, COUNTRIES, TEMPLATES
from imprint_trainer.doc_to_lora.training.vocabulary import vocabulary_of

# Words that say nothing by themselves: pronouns, prepositions, auxiliaries, conjunctions, numerals, interjections.
FUNCTION_WORDS = frozenset(
    words(
        """
        about after again ago ain all alone also always and any anymore anyone anyway apparently are aren
        around aside away back because been before behind being besides between beyond both btw but can
        could did didn does doesn don done down each either else ever every everything for from get gets got
        had has have hello her hey him his how into isn its just lately least like many may meanwhile might
        mine more most much nah never nobody nope not nothing now nowadays off oh okay once one only onto or
        ought our out over own please rather really should since some someone something somewhere sorry
        still such sure than that the their them then there therefore these they this those through thus
        till today tomorrow too ugh under until upon very via was wasn were what whatever when where which
        while who whom whose why will with within without won would wouldn yes yesterday yet you your
        """
    )
)

# Modules of training that hold wordings; new ones of these names are found by themselves.
WORDED = ("*wording*", "*grammar*", "*frame*", "*question*", "vocabulary", "synthetic", "unrelated", "own_texts")


def texts_of(file: Path) -> list[str]:
    """Every text of a module but its docstrings and the names it imports."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, documented)}
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return [text for text in constants if isinstance(text, str) and text not in docstrings]


def training_words() -> frozenset[str]:
    folder = Path(training.__path__[0])
    found = {file for pattern in WORDED for file in folder.rglob(f"{pattern}.py")}
    assert {"wordings.py", "vocabulary.py", "synthetic.py"} <= {file.name for file in found}
    return words_in(text for file in found for text in texts_of(file))


def all_words(lists: FactLists) -> frozenset[str]:
    return (lists.content_words | lists.wording_words) - FUNCTION_WORDS


@pytest.mark.parametrize(("one", "other"), combinations(SETS, 2))
def test_sets_share_no_content_word(one: str, other: str) -> None:
    assert all_words(SETS[one]) & all_words(SETS[other]) == frozenset()


@pytest.mark.parametrize("name", SETS)
def test_training_says_no_content_word_of_a_set(name: str) -> None:
    assert all_words(SETS[name]) & training_words() == frozenset()


@pytest.mark.parametrize("name", SETS)
def test_training_draws_no_word_that_entities_and_values_of_a_set_are_made_of(name: str) -> None:
    class Tokenizer:
        def get_vocab(self) -> dict[str, int]:
            return {word: index for index, word in enumerate(sorted(SETS[name].content_words | {"antidote"}))}

        def convert_tokens_to_string(self, tokens: list[str]) -> str:
            return tokens[0]

    assert vocabulary_of(Tokenizer()) == ("antidote",)


@pytest.mark.parametrize("name", SETS)
def test_the_words_of_a_set_are_those_of_its_lists(name: str) -> None:
    """The test above would hold of empty lists too."""
    lists = SETS[name]
    assert len(lists.nouns) >= 30
    assert set(lists.nouns) | set(lists.values) <= lists.content_words
    assert len(lists.wording_words - FUNCTION_WORDS) >= 60
    assert {"anchor", "atlas"} <= training_words()


def test_no_question_is_one_that_training_holds_the_base_to() -> None:
    held = {template.format(filling) for template, fillings in TEMPLATES for filling in fillings}
    asked = {question.text for question in questions()}
    assert not asked & held


def test_no_question_is_about_a_country_or_animal_that_training_asks_about() -> None:
    subjects = {word for question in questions() for word in question.text.rstrip("?").split()}
    assert not subjects & {*COUNTRIES, *ANIMALS}
