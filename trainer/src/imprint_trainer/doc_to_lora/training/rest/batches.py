"""A step's rows, made from the seed and the step's number alone: a resumed training sees the same ones."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from imprint_trainer.data.windows import Window
from imprint_trainer.doc_to_lora.training.rest.config import RestConfig
from imprint_trainer.doc_to_lora.training.rest.noted import Notes
from imprint_trainer.doc_to_lora.training.rest.passages import Corpus, Document


@dataclass(frozen=True)
class Held:
    """A window that a document says nothing about."""

    window: Window
    foreign: bool = False  # of another group's session
    kept: bool = True  # on disk, once read


@dataclass(frozen=True)
class Row:
    """A document of at most `chunks` chunks, a window of what it should help with, and one that must stay as it is."""

    document: Document
    chunks: int
    rest: Window
    held: Held
    seed: str  # draws the positions that count


def make_rows(
    corpus: Corpus, texts: Sequence[Window], notes: Notes, config: RestConfig, *, documents: int, seed: int, step: int
) -> list[Row]:
    """Documents of different groups where there are as many; a foreign window is one of the next document's rest. A
    share of them hold a note, and are asked for it."""
    rng = random.Random(f"rest {seed} {step}")
    groups = rng.sample(range(len(corpus.groups)), min(documents, len(corpus.groups)))
    passages = [rng.choice(corpus.groups[group]) for group in groups]
    rests = [rng.choice(passage.windows) for passage in passages]
    rows = []
    for index, (passage, rest) in enumerate(zip(passages, rests, strict=True)):
        place, chunks = f"{seed} {step} {index}", rng.choice(config.chunks)
        if rng.random() < config.notes_share:
            asked = notes.ask(rng, passage, place)
            rows.append(Row(asked.document, chunks, asked.answer, Held(asked.quiet, kept=False), place))
            continue
        foreign = rng.random() < config.foreign_share or not texts
        other = rests[(index + 1) % len(rests)] if foreign else rng.choice(texts)
        rows.append(Row(passage, chunks, rest, Held(other, foreign), place))
    return rows


def chosen(count: int, most: int, seed: str) -> list[int]:
    """At most `most` of so many places, in order."""
    return sorted(random.Random(seed).sample(range(count), min(count, most)))
