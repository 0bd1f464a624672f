"""Facts as people state them in a chat with their agent, questions for them, and whether an answer says them."""

import random
import re
from dataclasses import dataclass

from imprint_trainer.data.session import Session, Source, Step
from imprint_trainer.doc_to_lora.evaluation.lists import KINDS, FactLists
from imprint_trainer.doc_to_lora.evaluation.set_dev import DEV
from imprint_trainer.doc_to_lora.evaluation.set_test import TEST

SETS = {"dev": DEV, "test": TEST}
MODULUS = 10  # training leaves one number in ten out; half of those are dev's, half test's


@dataclass(frozen=True)
class Fact:
    """`elsewhere` asks the same of an entity that the session does not name; `other` is what the value is not."""

    kind: str
    statement: str
    question: str
    elsewhere: str
    value: str
    other: str


def make_facts(lists: FactLists, count: int, seed: int) -> list[Fact]:
    """`count` of each kind, in turn."""
    rng = random.Random(f"facts {seed}")
    return [make_fact(rng, lists, kind) for _ in range(count) for kind in KINDS]


def make_fact(rng: random.Random, lists: FactLists, kind: str) -> Fact:
    attribute = rng.choice([one for one in lists.attributes if one.kind == kind])
    value, other = _two(rng, lists, kind)
    entity, stranger = (
        f"{rng.choice(('the', 'our'))} {noun} {rng.choice(lists.things)}" for noun in rng.sample(lists.nouns, 2)
    )
    said = rng.choice(attribute.statements).format(e=entity, v=value, o=other)
    asked = rng.choice(attribute.questions)
    statement = rng.choice(lists.openers) + said + "." + rng.choice(lists.closers)
    return Fact(kind, statement, asked.format(e=entity), asked.format(e=stranger), value, other)


def as_session(fact: Fact, lists: FactLists, seed: int) -> Session:
    """A user's message that states the fact, and the agent's short reply, in which it does not stand."""
    reply = random.Random(f"reply {seed} {fact.statement}").choice(lists.replies)
    return Session(
        schema_version=1,
        session_id="fact",
        source=Source(format="native", format_version=None, agent=None, model=None, sha256="0" * 64),
        task_type=None,
        outcome="unknown",
        outcome_signal=None,
        started_at=None,
        tools=(),
        steps=(Step(source="user", text=fact.statement), Step(source="agent", text=reply)),
        bad_lines=0,
        dropped=(),
        redactions=(),
    )


def says(answer: str, text: str) -> bool:
    """Whether the text stands in the answer by itself: not as a part of a longer word, path, number or version."""
    return re.search(rf"(?<![\w./~-]){re.escape(text)}(?![\w/-]|\.\w)", answer) is not None


def is_right(answer: str, fact: Fact) -> bool:
    return says(answer, fact.value) and not says(answer, fact.other)


def is_sealed_number(number: int, parity: int) -> bool:
    """One of those that training never states (`synthetic.py`), halved between the sets."""
    mixed = number * 2654435761 % 2**32
    return mixed % MODULUS == 0 and mixed // MODULUS % 2 == parity


def _two(rng: random.Random, lists: FactLists, kind: str) -> tuple[str, str]:
    """Two different values of a kind, of one length or form where numbers are meant."""
    if kind == "numbers":
        low, high = rng.choice(((11, 100), (100, 1000), (1000, 10000), (10000, 65536)))
        first, second = _numbers(rng, lists, low, high), _numbers(rng, lists, low, high)
    elif kind == "versions":
        first, second = _version(rng, lists), _version(rng, lists)
    else:
        shapes = {"words": ("{w}", "{w}-{n}"), "files": lists.files, "commands": lists.commands, "paths": lists.paths}
        shape = rng.choice(shapes[kind])
        first, second = (
            shape.format(w=word, p=rng.choice(lists.parts), n=rng.randint(2, 9)) for word in rng.sample(lists.values, 2)
        )
    return (first, second) if first != second else _two(rng, lists, kind)


def _numbers(rng: random.Random, lists: FactLists, low: int, high: int) -> str:
    return str(rng.choice([number for number in range(low, high) if is_sealed_number(number, lists.parity)]))


def _version(rng: random.Random, lists: FactLists) -> str:
    """Of three numbers, which together are sealed as one is."""
    while True:
        major, minor, patch = rng.randint(0, 9), rng.randint(0, 40), rng.randint(0, 30)
        if is_sealed_number(major * 10000 + minor * 100 + patch, lists.parity):
            return f"{major}.{minor}.{patch}"
