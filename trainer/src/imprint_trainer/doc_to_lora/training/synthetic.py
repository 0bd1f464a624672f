"""Synthetic documents that state facts, and questions about them: the default training and evaluation data.

A document says one to four facts of the kinds that coding sessions are full of (ports, commands, files, owners) among
unrelated sentences. Values, entities and question wordings of the evaluation are never seen in training.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from imprint_trainer.doc_to_lora.training.vocabulary import FILLER, LINES, PARTS, Words
from imprint_trainer.doc_to_lora.training.wordings import (
    HELD_OUT_QUESTIONS,
    NAMES,
    QUESTIONS,
    STATEMENTS,
    SUFFIXES,
    free_wording,
)

HOLDOUT_MODULUS = 10  # one number in ten is held out
PROSE = 0.5  # share of the fillers that are sentences
FREE = 0.5  # chance of a training's wording that is put together, and of a name with a word of the vocabulary in it


@dataclass(frozen=True)
class Fact:
    """One attribute of one entity, and a question for it."""

    kind: str
    name: str
    subject: str  # the noun that tells the entity from others
    entity: str
    question: str
    value: str


@dataclass(frozen=True)
class Example:
    """A document and one question about it; `question` never contains the answer."""

    document: str
    question: str
    answer: str
    kind: str


@dataclass(frozen=True)
class Novelty:
    """What of an example is held out of training; what is not may also be of the base model's `vocabulary`, and asked
    for more freely."""

    values: bool = False
    entities: bool = False
    wordings: bool = False
    vocabulary: tuple[str, ...] = field(default=(), repr=False)


def _number(rng: random.Random, words: Words, low: int, high: int) -> str:
    while True:
        value = rng.randrange(low, high)
        if (value * 2654435761 % 2**32 % HOLDOUT_MODULUS == 0) == words.held_out:
            return str(value)


def _command(rng: random.Random, words: Words) -> str:
    verb, noun = words.verb(rng), words.noun(rng)
    return rng.choice([f"make {verb}-{noun}", f"npm run {verb}:{noun}", f"./{verb}_{noun}.sh", f"just {verb} {noun}"])


def _file(rng: random.Random, words: Words) -> str:
    noun, part = words.noun(rng), rng.choice(PARTS)
    return rng.choice([f"{part}/{noun}.toml", f"src/{noun}_{part}.py", f"config/{noun}.yaml", f"{noun}.json"])


def _branch(rng: random.Random, words: Words) -> str:
    return f"{rng.choice(['feature', 'release', 'fix'])}/{words.verb(rng)}-{words.noun(rng)}"


def _person(rng: random.Random, words: Words) -> str:
    return f"{words.first_name(rng)} {words.noun(rng).capitalize()}"


# kind -> maker of a value
KINDS: dict[str, Callable[[random.Random, Words], str]] = {
    "code": lambda rng, words: _number(rng, words, 1000, 10000),
    "port": lambda rng, words: _number(rng, words, 1024, 10000),
    "word": lambda rng, words: words.noun(rng),
    "command": _command,
    "file": _file,
    "branch": _branch,
    "owner": _person,
    "limit": lambda rng, words: _number(rng, words, 11, 1000),
}
NUMERIC_KINDS = ("code", "port", "limit")


def make_fact(rng: random.Random, novelty: Novelty, kind: str | None = None, questions: int | None = None) -> Fact:
    """A fact whose value, entity and question are from the part of the vocabulary that `novelty` says.

    `questions` limits how many different ones a kind has, entity and wording included; the value is always fresh.
    """
    kind = kind or rng.choice(list(KINDS))
    asking = rng if questions is None else random.Random(f"{kind} {rng.randrange(questions)} {novelty}")
    names, make_value = NAMES[kind], KINDS[kind]
    name = names[-1] if novelty.wordings else asking.choice(names[:-1])
    subjects, values = Words(novelty.entities, novelty.vocabulary), Words(novelty.values, novelty.vocabulary)
    noun, part = subjects.noun(asking), subjects.part(asking)
    entity = asking.choice(
        [f"the {noun} {part}", f"{noun}-{part}", f"project {noun.capitalize()}", f"the {noun} {part} service"]
    )
    wording = asking.choice(HELD_OUT_QUESTIONS if novelty.wordings else QUESTIONS)
    if novelty.vocabulary and not novelty.wordings:
        if asking.random() < FREE:
            wording = free_wording(asking)
        if asking.random() < FREE:
            word = subjects.noun(asking)
            name = asking.choice([word, f"{word} {name}", f"{name} {word}"])
    question = wording.format(name=name, entity=entity) + asking.choice(SUFFIXES)
    question = question[0].upper() + question[1:]
    value = make_value(rng, values)
    while noun in value.lower() or value.lower() in question.lower():  # which would give the answer away
        value = make_value(rng, values)
    return Fact(kind, name, noun, entity, question, value)


def make_statement(rng: random.Random, fact: Fact) -> str:
    """One sentence that says the fact, the value letter by letter."""
    sentence = rng.choice(STATEMENTS).format(name=fact.name, entity=fact.entity, value=fact.value)
    return sentence if sentence.startswith(fact.value) else sentence[0].upper() + sentence[1:]


def make_document(rng: random.Random, facts: list[Fact], fillers: int) -> str:
    """The facts' statements among `fillers` sentences and lines that state none, in random order."""
    parts = [make_statement(rng, fact) for fact in facts]
    parts += [make_filler(rng) for _ in range(fillers)]
    rng.shuffle(parts)
    return rng.choice((" ", "\n")).join(parts)


def make_filler(rng: random.Random) -> str:
    """A sentence of prose, or a line of code, log or test output with names and numbers of its own."""
    if rng.random() < PROSE:
        return rng.choice(FILLER)
    words = Words()
    return rng.choice(LINES).format(
        noun=words.noun(rng),
        other=words.noun(rng),
        part=words.part(rng),
        verb=words.verb(rng),
        number=rng.randrange(1, 1000),
        small=rng.randrange(2, 60),
    )


def make_facts(
    rng: random.Random,
    count: int,
    novelty: Novelty,
    kind: str | None = None,
    questions: int | None = None,
    alike: float = 0.0,
) -> list[Fact]:
    """`count` facts of different entities, so that exactly one answers a question; the first is of `kind`, and each of
    the others at least with the chance `alike` of the first one's."""
    facts = [make_fact(rng, novelty, kind, questions)]
    while len(facts) < count:
        same = alike > 0 and rng.random() < alike  # nothing is drawn for 0: the evaluation's documents stay the same
        fact = make_fact(rng, novelty, facts[0].kind if same else None, questions)
        if all(fact.subject != other.subject and fact.value != other.value for other in facts):
            facts.append(fact)
    return facts


def make_examples(
    rng: random.Random,
    *,
    facts: int,
    fillers: int,
    asked: int,
    novelty: Novelty,
    kind: str | None = None,
    questions: int | None = None,
    alike: float = 0.0,
) -> list[Example]:
    """One document and questions about `asked` different facts of it; the first asks for `kind`."""
    chosen = make_facts(rng, facts, novelty, kind, questions, alike)
    document = make_document(rng, chosen, fillers)
    return [Example(document, fact.question, fact.value, fact.kind) for fact in chosen[:asked]]
