"""Ordinary text from files: manuals, changelogs, sources, whatever lies on the machine."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

SUFFIXES = frozenset({".md", ".txt", ".rst", ".py", ".ts", ".js", ".go", ".rs", ".c", ".h", ".java", ".sh", ".html"})
PIECE = 384  # tokens
LEAST = 128
CHARACTERS = 5  # read for each token of a piece


class NoTexts(ValueError):  # noqa: N818  named for what happened
    """There is nothing to measure on: a sentence that names the argument."""


def text_files(places: Sequence[Path]) -> list[Path]:
    """Files, and of folders those with a suffix of text, in order. Raises NoTexts where there are none."""
    found: list[Path] = []
    for place in places:
        below = sorted(path for path in place.rglob("*") if path.suffix in SUFFIXES) if place.is_dir() else [place]
        found += [path for path in below if path.is_file() and not path.is_symlink()]
    if not found:
        raise NoTexts(f"--texts: no text file in {', '.join(place.name for place in places)}: name others.")
    return found


def pieces(files: Sequence[Path], tokenizer: Any, tokens: int, seed: int) -> Iterator[list[int]]:
    """Ids of pieces of different files, drawn, until there are so many tokens; what is no UTF-8 is passed over."""
    rng = random.Random(f"texts {seed}")
    left = tokens
    for path in rng.sample(list(files), len(files)):
        if left <= 0:
            return
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        start = rng.randrange(max(1, len(text) - CHARACTERS * PIECE))
        part = text[start : start + CHARACTERS * PIECE]
        ids: list[int] = tokenizer(part, add_special_tokens=False)["input_ids"][:PIECE]
        if len(ids) >= LEAST:
            left -= len(ids)
            yield ids
