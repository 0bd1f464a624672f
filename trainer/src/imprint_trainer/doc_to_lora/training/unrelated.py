"""Questions that have nothing to do with any document: an adapter must leave the base model's answers to them alone."""

import random
from collections.abc import Sequence

from imprint_trainer.doc_to_lora.training.vocabulary import words

COUNTRIES = words(
    """
France Germany Japan Brazil Canada Egypt India Italy Spain Norway Sweden Finland Poland Greece Turkey Kenya
Mexico Peru Chile Argentina Australia Austria Belgium Portugal Ireland Denmark Hungary Thailand Vietnam
Iceland
"""
)
TOPICS = words(
    """
gravity photosynthesis recursion encryption inflation democracy evolution electricity friendship patience
teamwork learning sleep exercise music painting cooking gardening reading travel climate oceans volcanoes bees
trees rivers mountains computers algorithms databases compilers networks testing debugging money trade history
language writing kindness
"""
)
TASKS = """
reverses a string
adds two numbers
sorts a list
counts vowels
finds the largest number in a list
removes duplicates from a list
checks whether a number is prime
reads a text file
computes a factorial
merges two dictionaries
splits a sentence into words
checks for a palindrome
prints the first ten squares
converts Celsius to Fahrenheit
computes the average of a list
generates a random password
flattens a nested list
counts words in a text
finds the second largest number
zips two lists
""".strip().splitlines()
ANIMALS = words(
    """
cat dog horse elephant penguin whale eagle snake frog spider rabbit wolf bear tiger owl dolphin
"""
)

TEMPLATES: tuple[tuple[str, Sequence[str]], ...] = (
    ("What is the capital of {}?", COUNTRIES),
    ("Which language is spoken in {}?", COUNTRIES),
    ("Name a famous city in {}.", COUNTRIES),
    ("Explain {} in one sentence.", TOPICS),
    ("Why is {} important?", TOPICS),
    ("Give me two facts about {}.", TOPICS),
    ("Write a short poem about {}.", TOPICS),
    ("What do you know about {}?", TOPICS),
    ("Write a Python function that {}.", TASKS),
    ("How would you write a function that {}?", TASKS),
    ("What does a {} eat?", ANIMALS),
    ("How long does a {} live?", ANIMALS),
    ("Tell me a joke about a {}.", ANIMALS),
)


def unrelated_questions(count: int, *, held_out: bool, seed: int) -> list[str]:
    """`count` different questions; the held-out third shares no question with the rest."""
    questions = [template.format(filling) for template, fillings in TEMPLATES for filling in fillings]
    part = [question for index, question in enumerate(questions) if (index % 3 == 2) == held_out]
    random.Random(seed).shuffle(part)
    if count > len(part):
        raise ValueError(f"only {len(part)} unrelated questions exist, {count} were asked for")
    return part[:count]
