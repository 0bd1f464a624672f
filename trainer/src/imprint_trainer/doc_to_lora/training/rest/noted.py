"""Rows of the minor part: a fact noted in a session's document, asked for without it."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from imprint_trainer.data.windows import Window
from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.prompts import Prompts
from imprint_trainer.doc_to_lora.training.rest.note_wordings import Note, make_note
from imprint_trainer.doc_to_lora.training.rest.passages import Passage, in_chunks
from imprint_trainer.doc_to_lora.training.unrelated import unrelated_questions

LABELS = ("Request", "Request", "Decision", "Result")
NOTES = 2  # in a document at most
QUESTIONS = 200  # about the world


@dataclass(frozen=True)
class Noted:
    """A passage's document with statements between its lines; made anew for each row, and so not kept."""

    passage: Passage
    statements: tuple[str, ...]
    seed: str
    kept: bool = False

    def chunks(self, base: Base, count: int, length: int) -> list[list[int]]:
        return in_chunks(self._text, base, count, length)

    def _text(self, characters: int) -> str:
        rng = random.Random(self.seed)
        added = [f"{rng.choice(LABELS)}: {statement}" for statement in self.statements]
        room = characters - sum(len(line) + 1 for line in added)
        lines = self.passage.text(room).split("\n") if room > 0 else []
        for line in added:
            lines.insert(rng.randint(0, len(lines)), line)
        return "\n".join(lines)


@dataclass(frozen=True)
class Asked:
    """`answer` asks for the fact; to `quiet`, which it does not answer, its value must be no likelier than before."""

    document: Noted
    answer: Window
    quiet: Window


class Notes:
    def __init__(self, base: Base) -> None:
        self._prompts = Prompts(base.tokenizer)
        self._vocabulary = base.vocabulary
        self._unrelated = unrelated_questions(QUESTIONS, held_out=False, seed=0)

    def ask(self, rng: random.Random, passage: Passage, seed: str) -> Asked:
        notes = [make_note(rng, self._vocabulary) for _ in range(rng.randint(1, NOTES))]
        note = notes[0]
        question = note.other if rng.random() < 0.7 else rng.choice(self._unrelated)
        document = Noted(passage, tuple(one.statement for one in notes), seed)
        return Asked(document, self._window(note.question, note), self._window(question, note))

    def _window(self, question: str, note: Note) -> Window:
        asking = [*self._prompts.prefix, *self._prompts.question(question)]
        answer = self._prompts.answer(note.value)
        return Window((*asking, *answer), (*[False] * len(asking), *[True] * len(answer)))


def asked_of(notes: Notes, passages: Sequence[Passage], count: int) -> list[Asked]:
    """For measurements: the same ones each time."""
    rng = random.Random("asked")
    return [notes.ask(rng, passages[index % len(passages)], f"asked {index}") for index in range(count)]
