"""What a model is asked for a canary: the window that holds it, up to where it begins."""

import os
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from imprint_trainer.data.lessons import decoded
from imprint_trainer.data.windows import Window

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True)
class Place:
    """The text of a window around a value, and whether a training on that window learns to write it."""

    before: str
    after: str  # the rest of the line
    supervised: bool


@dataclass(frozen=True)
class Question:
    """Tokens of the prompt, and of each value that could follow. They share the prompt whatever follows it, so that
    what a model thinks of them compares."""

    prompt: tuple[int, ...]
    answers: tuple[tuple[int, ...], ...]


def place_of(value: str, windows: Sequence[Window], tokenizer: "PreTrainedTokenizerBase") -> Place | None:
    """Where a value is learned, else where it is read; None when it stands in no window."""
    places = [place for window in windows if (place := place_in(window, value, tokenizer))]
    return next((place for place in places if place.supervised), places[0] if places else None)


def place_in(window: Window, value: str, tokenizer: "PreTrainedTokenizerBase") -> Place | None:
    ids, text = window.input_ids, decoded(tokenizer, window.input_ids)
    at = text.find(value)
    if at < 0:
        return None
    end = bisect_left(range(len(ids)), True, key=lambda end: value in decoded(tokenizer, ids[: end + 1])) + 1
    start = bisect_left(range(end), True, key=lambda start: value not in decoded(tokenizer, ids[start:end])) - 1
    after = text[at + len(value) :].split("\n", 1)
    return Place(text[:at], after[0] + "\n" * (len(after) - 1), all(window.supervised[start:end]))


def question_of(place: Place, values: Sequence[str], tokenizer: "PreTrainedTokenizerBase") -> Question:
    encoded = tokenizer(
        [place.before + value + place.after for value in values],
        add_special_tokens=False,
        return_offsets_mapping=True,
        verbose=False,
    )
    prompt = os.path.commonprefix(encoded["input_ids"])
    answers = []
    for value, ids, offsets in zip(values, encoded["input_ids"], encoded["offset_mapping"], strict=True):
        end = len(place.before) + len(value)
        answers.append(tuple(ids[len(prompt) : sum(start < end for start, _ in offsets)]))
    return Question(tuple(prompt), tuple(answers))
