"""Words that synthetic documents are made of. Every tenth word of each list is held out of training."""

import random
from dataclasses import dataclass
from functools import cache
from typing import Any

from imprint_trainer.doc_to_lora.evaluation.set_dev import DEV
from imprint_trainer.doc_to_lora.evaluation.set_test import TEST
from imprint_trainer.doc_to_lora.training.wordings import NAMES


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


NOUNS = words(
    """
anchor apple arrow atlas badger bamboo barrel basin beacon birch bishop blossom bolt border bridge bronze
brook bucket cactus camel candle canyon carbon castle cedar cello chalk cherry cipher circle cliff clover
cobalt comet copper coral cotton crane crater cricket crystal cypress dagger daisy delta desert diamond
dolphin dragon eagle ember engine falcon feather fern ferry finch flint forest fossil fountain fox galaxy
garnet gecko ginger glacier granite grove hammer harbor hawk hazel helmet heron hickory honey horizon hornet
iceberg indigo iris island ivory jaguar jasmine jasper jungle juniper kestrel kettle lagoon lantern lark lemon
leopard lilac linden lizard lotus lynx magnet mango maple marble meadow mercury meteor mint mirror monsoon
mosaic mountain needle nickel nutmeg oasis ocean olive onyx opal orbit orchid osprey otter oyster paddle
panther parrot pebble pepper phoenix pigeon pine planet plum polar poplar prism pulsar puma quail quartz
quiver rabbit raven reef ribbon river robin rocket ruby saddle saffron sailor salmon sapphire saturn scarab
sequoia shadow shark shell silver sparrow spice spiral spruce squid stone storm summit sunset swan tango
temple thistle thunder tiger timber topaz torch tulip tundra turtle umbra valley vanilla velvet violet viper
volcano walnut walrus willow window winter wolf yarrow zebra zenith zephyr zinc
"""
)

PARTS = words(
    """
api auth backup billing cache catalog checkout cluster collector console crawler dashboard database dispatcher
editor export feed firewall gateway importer indexer ingest inventory ledger loader logger mailer manager
mapper metrics migration monitor notifier orders parser payment pipeline planner portal profile proxy queue
registry renderer reporter router runner sandbox scheduler search sensor server session shipping signup stream
sync tracker upload validator vault viewer watcher worker
"""
)

VERBS = words(
    """
archive audit build bundle check clean compile deploy export fetch format generate import index install lint
migrate mirror package patch prepare profile prune publish push rebuild refresh release render repair replay
reset restore rotate seed serve ship sign stage start sync tag test trace update upload validate verify
"""
)

FIRST_NAMES = words(
    """
Ada Alma Amir Anika Anton Bea Boris Carla Chen Clara Dana Daria Emil Elena Farid Fiona Freya Goran Hana Hugo
Ines Ivan Jana Jonas Kaito Karim Lara Leon Lina Malik Marta Mila Milan Nadia Nico Nora Olga Omar Paula Pavel
Petra Priya Rafael Rosa Samir Selma Sofia Tara Tomas Uma Vera Viktor Wanda Yara Yusuf Zoe
"""
)

FILLER = """
The team met on Tuesday and went through the open tickets.
Most of the old code was removed last spring.
Logs are kept for two weeks and then thrown away.
Please run the formatter before you open a pull request.
The tests were slow at first, so they now run in parallel.
Nobody has changed this part of the project for a while.
We decided to keep the public interface small.
Errors are reported in one place and never swallowed.
The first attempt failed because the fixture was out of date.
After the fix all checks passed on the second run.
A short note in the changelog describes the reason.
The documentation lists every option in alphabetical order.
Reviewers asked for smaller functions and clearer names.
The cache is warmed in the background after each start.
Old clients keep working because the format did not change.
We measured it twice and the numbers were stable.
The design was discussed in the weekly call.
Secrets are never written to disk.
Each request gets its own transaction.
The retry loop was replaced by a queue.
A second machine takes over when the first one is down.
The command line prints one line per file.
Temporary folders are removed when the process ends.
The parser accepts both old and new files.
""".strip().splitlines()

# What sessions are full of: names and numbers that no question asks for.
LINES = """
PASSED tests/test_{noun}.py::test_{verb}_{part} [ {small}%]
FAILED tests/test_{noun}_{part}.py::test_{verb} - AssertionError: assert {small} == {number}
{small} passed, {number} deselected in 0.{small}s
  File "src/{noun}/{part}.py", line {number}, in {verb}_{other}
def {verb}_{noun}({part}, limit={number}):
    return self.{part}.{verb}({other}, {small})
    if len({noun}) > {number}: raise ValueError("{other} is too long")
import {noun}_{part}
from {noun}.{part} import {verb}_{other}
+    {noun} = {verb}({other}[{small}:])
-    {noun} = {verb}({other})
INFO {part} started {small} workers in {number} ms
WARNING {noun}.{part}: {verb} took {number} ms
$ git diff --stat src/{noun}_{part}.py
 src/{noun}/{part}.py | {small} +++--
-rw-r--r-- 1 user user {number} {noun}_{part}.log
const {noun} = await {part}.{verb}("{other}", {number});
export function {verb}{small}({noun}: string): {other} {{
# {verb} the {noun} before the {part}
total {number}
{noun}: {small}.{small}.{small}
The {part} test for {noun} failed with {number} errors, so I will {verb} it again.
I will look at {noun}/{part}.py, lines {small} to {number}.
Now {verb} the {noun} in the {part} and run the tests again.
Ran {small} tests in {number} ms: OK
""".strip("\n").split("\n")


SYLLABLES = [
    consonant + vowel
    for consonant in words("b c d f g h j k l m n p r s t v w z br cl dr gr kr pl st tr sh ch th qu")
    for vowel in words("a e i o u ai ee or en ar il on")
]
LISTED = 0.1  # share of the lists among a training's words, where it has a vocabulary
INVENTED = 0.5  # share of words that nobody has seen, which mostly take several tokens
SHORTEST = 4  # letters of a vocabulary's word: shorter ones are mostly parts of words


@cache
def split(vocabulary: tuple[str, ...], held_out: bool) -> tuple[str, ...]:
    """The tenth of the words that training never sees, or the rest. Every tenth word, so both halves look alike."""
    return tuple(word for index, word in enumerate(vocabulary) if (index % 10 == 9) == held_out)


HELD_OUT = {word.lower() for listed in (NOUNS, PARTS, FIRST_NAMES) for word in split(listed, True)}
HELD_OUT |= {names[-1] for names in NAMES.values()}
HELD_OUT |= DEV.content_words | TEST.content_words


def vocabulary_of(tokenizer: Any) -> tuple[str, ...]:
    """Lower-case English-looking words that the base model has a token for, none of them held out."""
    texts = {str(tokenizer.convert_tokens_to_string([token])).strip() for token in tokenizer.get_vocab()}
    plain = (text for text in texts if text.isascii() and text.isalpha() and text.islower() and len(text) >= SHORTEST)
    return tuple(sorted(set(plain) - HELD_OUT))


@dataclass(frozen=True)
class Words:
    """What values and entities are made of: the held-out part of the lists, or everything else.

    A hypernetwork that sees the few listed words alone learns to tell them apart, and copies no other. With a
    `vocabulary` most words are drawn from it, and some are invented.
    """

    held_out: bool = False
    vocabulary: tuple[str, ...] = ()

    def noun(self, rng: random.Random) -> str:
        return self._draw(rng, NOUNS)

    def part(self, rng: random.Random) -> str:
        return rng.choice(split(PARTS, self.held_out))

    def verb(self, rng: random.Random) -> str:
        """Verbs are not held out."""
        return rng.choice(VERBS)

    def first_name(self, rng: random.Random) -> str:
        return self._draw(rng, FIRST_NAMES).capitalize()

    def _draw(self, rng: random.Random, listed: tuple[str, ...]) -> str:
        if self.held_out or not self.vocabulary:
            return rng.choice(split(listed, self.held_out))
        dice = rng.random()
        if dice < LISTED:
            return rng.choice(split(listed, False))
        if dice < LISTED + INVENTED:
            return invented(rng, self.vocabulary)
        return rng.choice(self.vocabulary)


def invented(rng: random.Random, vocabulary: tuple[str, ...]) -> str:
    """Two or three syllables, or the beginning of one word and a piece of another, which may be a rare token."""
    if rng.random() < 0.5:
        word = "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(2, 3)))
    else:
        other = rng.choice(vocabulary)
        cut = rng.randrange(len(other) - 1)
        word = rng.choice(vocabulary)[: rng.randint(2, 5)] + other[cut : cut + rng.randint(2, 4)]
    return invented(rng, vocabulary) if word in HELD_OUT else word
