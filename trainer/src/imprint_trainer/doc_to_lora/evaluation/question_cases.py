"""Questions that the base answers right, asked with adapters of sessions and of facts that are about none."""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from imprint_trainer.doc_to_lora.evaluation.answers import answers
from imprint_trainer.doc_to_lora.evaluation.fact_cases import FactCases
from imprint_trainer.doc_to_lora.evaluation.facts import make_facts, says
from imprint_trainer.doc_to_lora.evaluation.questions import Question, questions
from imprint_trainer.doc_to_lora.evaluation.results import Key, Results
from imprint_trainer.doc_to_lora.evaluation.session_cases import SessionCases

BATCH = 25
ASKED = 200
SESSIONS = 8  # whose adapters take turns, of four chunks where there are as long ones
FACT_SEED = 1000  # none of the facts that are asked for


@dataclass(frozen=True)
class QuestionCases:
    """`count` candidates are asked without an adapter, and of those that the base answers right ASKED with one."""

    sessions: SessionCases
    facts: FactCases
    count: int | None = None

    def keys(self, results: Results) -> Iterator[Key]:
        for start in range(0, len(self._candidates()), BATCH):
            yield "base answers", start
        for source in ("sessions", "facts"):
            if source == "facts" or self._passages():
                for start in range(0, len(self._right(results)), BATCH):
                    yield "questions", source, start

    def case(self, key: Key, results: Results) -> dict[str, Any]:
        """`right`: for each question; `leaked`: whether the answer says a value of the document that neither question
        nor the base's answer has."""
        if key[0] == "base answers":
            asked = self._candidates()[int(key[1]) : int(key[1]) + BATCH]
            given = answers(self.facts.imprinter, [one.text for one in asked])
            return {"right": [one.is_right(text) for one, text in zip(asked, given, strict=True)], "answers": given}
        start = int(key[2])
        chosen = self._right(results)[start : start + BATCH]
        imprints, values = self._of_sessions(start) if key[1] == "sessions" else self._of_facts(start)
        given = answers(self.facts.imprinter, [one.text for one, _ in chosen], imprints[: len(chosen)])
        return {
            "right": [one.is_right(text) for (one, _), text in zip(chosen, given, strict=True)],
            "leaked": [
                any(says(text, value) and not says(f"{one.text} {bare}", value) for value in own)
                for (one, bare), text, own in zip(chosen, given, values[: len(chosen)], strict=True)
            ],
        }

    def _of_sessions(self, start: int) -> tuple[list[Any], list[set[str]]]:
        passages = self._passages()
        turn = [passages[(start + index) % len(passages)] for index in range(BATCH)]
        return [self.sessions.imprint(one) for one in turn], [distinctive(one.text) for one in turn]

    def _of_facts(self, start: int) -> tuple[list[Any], list[set[str]]]:
        facts = make_facts(self.facts.lists, BATCH, FACT_SEED + start)[:BATCH]
        return [self.facts.imprint(one, FACT_SEED) for one in facts], [{one.value, one.other} for one in facts]

    def _passages(self) -> list[Any]:
        return next((found[:SESSIONS] for count in (4, 1) if (found := self.sessions.passages[count])), [])

    def _candidates(self) -> list[Question]:
        return random.Random("questions").sample(questions(), len(questions()))[: self.count]

    def _right(self, results: Results) -> list[tuple[Question, str]]:
        """The first that the base answers right, with its answers."""
        found = []
        for start in range(0, len(self._candidates()), BATCH):
            case, asked = results["base answers", start], self._candidates()[start : start + BATCH]
            found += [
                (one, text) for one, text, right in zip(asked, case["answers"], case["right"], strict=True) if right
            ]
        return found[:ASKED]


def distinctive(text: str) -> set[str]:
    """Paths, identifiers, versions and numbers of a document: what no answer has by chance."""
    found = re.findall(r"(?<!\w)\w[\w./:-]*\w", text)
    return {one for one in found if len(one) >= 4 and re.search(r"\w[_./:-]\w|\d", one)}
