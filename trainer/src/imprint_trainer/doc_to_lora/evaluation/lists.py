"""The lists that a set of facts is made of: entities, values and wordings. Importing it imports nothing of training."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

KINDS = ("numbers", "words", "files", "commands", "paths", "versions")
SHORT = ("numbers", "words")  # the kinds whose values mostly are a token or two
SHORTEST = 3  # letters of a word that two lists may not share


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


@dataclass(frozen=True)
class Attribute:
    """Ways to state one thing about an entity {e}, and to ask for it: {v} is its value, {o} what it is not."""

    kind: str
    statements: tuple[str, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True)
class FactLists:
    """Of `files`, `commands` and `paths`, {w} is one of `values` and {p} one of `parts`. `parity` halves the numbers
    that training holds out."""

    parity: int
    nouns: tuple[str, ...]
    things: tuple[str, ...]
    values: tuple[str, ...]
    parts: tuple[str, ...]
    files: tuple[str, ...]
    commands: tuple[str, ...]
    paths: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    openers: tuple[str, ...]
    closers: tuple[str, ...]
    replies: tuple[str, ...]

    @property
    def content_words(self) -> frozenset[str]:
        """What entities and values are made of: training draws none of these."""
        made = (self.nouns, self.things, self.values, self.parts, self.files, self.commands, self.paths)
        return words_in(text for texts in made for text in texts)

    @property
    def wording_words(self) -> frozenset[str]:
        """Of statements, questions and what stands around them."""
        asked = (text for one in self.attributes for text in (*one.statements, *one.questions))
        return words_in([*asked, *self.openers, *self.closers, *self.replies])


def words_in(texts: Iterable[str]) -> frozenset[str]:
    """Lower-case words of at least SHORTEST letters, without slots."""
    found: set[str] = set()
    for text in texts:
        found |= {word.lower() for word in re.findall(r"[A-Za-z]+", re.sub(r"\{\w+\}", " ", text))}
    return frozenset(word for word in found if len(word) >= SHORTEST)
