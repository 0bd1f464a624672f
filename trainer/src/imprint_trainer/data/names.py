"""What another pass over a session reads: the work under other names, with fewer words beside it. So it teaches how the
work was done, not on what, and goes by what was asked and seen.

Mention replacement (Dai and Adel, 2020, *An Analysis of Simple Data Augmentation for Named Entity Recognition*), where
the mentions are the words that a request gives and a call takes up.
"""

import random
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from imprint_trainer.data.session import Session, Step

# Words and numbers; what stands for a secret, and escapes of letters, are none.
WORD = re.compile(r"(?:<|\\u003c)SECRET:[a-z0-9-]+(?:>|\\u003e)|\\u[0-9a-fA-F]{4}|\\[a-zA-Z]|([A-Za-z]{3,}|[0-9]{3,})")
ALONE = re.compile(r"(?<![\w./\\-])([A-Za-z]{3,}|[0-9]{3,})(?![\w/-]|\.\w)")  # no part of a path or a longer name
VALUE = re.compile(r'"(?:[^"\\]|\\.)*"(\s*:)?|[0-9]{3,}')  # of JSON: a string, or the name of one; a number
OTHER = re.compile(r"[Ġ▁]([a-z]{4,8})")  # tokens that are a word


def words(texts: Iterable[str], form: re.Pattern[str] = WORD) -> set[str]:
    return {found[1].lower() for text in texts for found in form.finditer(text) if found[1]}


@dataclass
class Named:
    """What the requests of some sessions name, and how many sessions call something with it or show it."""

    sessions: int = 0
    held: Counter[str] = field(default_factory=Counter)
    asked: set[str] = field(default_factory=set)
    corrected: set[str] = field(default_factory=set)  # what corrections name: how work is done here
    said: set[str] = field(default_factory=set)

    def add(self, session: Session) -> None:
        called = words(text for step in session.steps for text in calls(step))
        asked = words(step.text for step in session.steps if step.source == "user")
        told = (text for step in session.steps for text in (step.text, *(one.content for one in step.observations)))
        self.sessions += 1
        self.held.update(called | words(told, ALONE))
        self.asked |= asked & called
        self.corrected |= words(corrections(session))
        self.said |= called | asked

    def arguments(self) -> tuple[str, ...]:
        """Words of a request that calls take up, no correction names, and at most half of the sessions hold: the calls
        of most have those of the language and of the tools, their rules and files those of the house, as what kinds of
        work are."""
        return tuple(sorted(word for word in self.asked - self.corrected if 2 * self.held[word] <= self.sessions))


def calls(step: Step) -> Iterator[str]:
    """What a step calls tools with; agents without tools call in their words."""
    if step.source == "agent":
        yield from (call.arguments for call in step.tool_calls) if step.tool_calls else (step.text,)


def corrections(session: Session) -> Iterator[str]:
    """What the person said of a call that they refused: their next words, else what stands for its result."""
    for step, following in pairwise(session.steps):
        if step.context_only == "refused":
            yield from [following.text] if following.source == "user" else (one.content for one in step.observations)


@dataclass(frozen=True)
class Names:
    """Other words for some, the same ones wherever they stand."""

    others: Mapping[str, str]

    def session(self, session: Session) -> Session:
        return session.model_copy(update={"steps": tuple(self._step(step) for step in session.steps)})

    def text(self, text: str) -> str:
        return WORD.sub(self._other, text)

    def arguments(self, text: str) -> str:
        """Of a call: JSON, whose parameters keep their names, or what a tool takes as it is."""
        if not text.lstrip().startswith("{"):
            return self.text(text)
        return VALUE.sub(lambda found: found[0] if found[1] else self.text(found[0]), text)

    def _step(self, step: Step) -> Step:
        calls = [call.model_copy(update={"arguments": self.arguments(call.arguments)}) for call in step.tool_calls]
        seen = [one.model_copy(update={"content": self.text(one.content)}) for one in step.observations]
        reasoning = None if step.reasoning is None else self.text(step.reasoning)
        said = {"text": self.text(step.text), "reasoning": reasoning}
        return step.model_copy(update={**said, "tool_calls": tuple(calls), "observations": tuple(seen)})

    def _other(self, found: re.Match[str]) -> str:
        word = found[1] or ""
        other = self.others.get(word.lower())
        if other is None:
            return found[0]
        return other.upper() if word.isupper() else other.capitalize() if word[0].isupper() else other


def straight(session: Session) -> Session:
    """Without what the person refused, and their next words, which say what to do instead: what was done then stands
    where it should have been done at once."""
    refused = [step.context_only == "refused" for step in session.steps]
    steps = zip(session.steps, refused, [False, *refused], strict=False)
    kept = tuple(step for step, now, before in steps if not now and not (before and step.source == "user"))
    return session.model_copy(update={"steps": kept})


def quiet(session: Session, number: int) -> Session:
    """Without what the agent says beside half of its calls, drawn for a pass by its number: by the ways to say it that
    a recording took, its work would be known, and that of no other one. What begins alike is drawn alike."""
    draw = random.Random(f"quiet {number} {asked_of(session)}")
    steps = tuple(
        one.model_copy(update={"text": ""}) if one.tool_calls and draw.random() < 0.5 else one for one in session.steps
    )
    return session.model_copy(update={"steps": steps})


def another_pass(
    session: Session, arguments: Sequence[str], pool: Sequence[str], number: int, *, whole: bool
) -> Session:
    """What another pass reads of a session, by its number. `whole`: all steps, where turns are named by their place."""
    read = session if whole else quiet(straight(session), number)
    return drawn(read, arguments, pool, number).session(read)


def asked_of(session: Session) -> str:
    return next((step.text for step in session.steps if step.source == "user"), "")


def other_words(vocabulary: Iterable[str], taken: Collection[str]) -> list[str]:
    """Words that are tokens, and not `taken`."""
    return sorted({found[1] for token in vocabulary if (found := OTHER.fullmatch(token))} - set(taken))


def drawn(session: Session, arguments: Sequence[str], pool: Sequence[str], number: int) -> Names:
    """A session's other names for a pass, by its number: words of `pool`, numbers of as many digits. Recordings that
    begin alike have the same ones."""
    draw = random.Random(f"{number} {asked_of(session)}")
    letters = [word for word in arguments if word.isalpha()]
    others = dict(zip(letters, draw.sample(pool, min(len(letters), len(pool))), strict=False))
    numbers = [word for word in arguments if word.isdigit()]
    return Names(others | {word: str(draw.randrange(10 ** (len(word) - 1), 10 ** len(word))) for word in numbers})
