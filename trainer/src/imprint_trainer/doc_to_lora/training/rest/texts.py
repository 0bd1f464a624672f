"""Pieces of files that no session is about, held as the base has them."""

import gzip
import json
import random
from pathlib import Path
from typing import Any

from imprint_trainer.data.windows import Window
from imprint_trainer.doc_to_lora.training.refusal import TrainingRefused

LEAST_TOKENS = 32
CHARACTERS = 6  # read of a file for each token of a piece


def read_texts(listing: Path | None, tokenizer: Any, *, count: int, length: int, seed: int) -> list[Window]:
    """One piece each of `count` of the files that a JSON list names, in random order; none without a list."""
    if listing is None or count == 0:
        return []
    try:
        named = json.loads(listing.read_text(encoding="utf-8"))
        paths = [Path(one if isinstance(one, str) else one["path"]) for one in named if not _kept_for_dev(one)]
    except (OSError, ValueError, KeyError, TypeError):
        raise TrainingRefused(f"--texts: {listing.name} is no JSON list of files.") from None
    rng = random.Random(f"texts {seed}")
    rng.shuffle(paths)
    found: list[Window] = []
    for path in paths:
        if len(found) == count:
            break
        try:
            content = path.read_bytes()
            text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")
        except (OSError, EOFError, UnicodeDecodeError):
            continue
        start = rng.randrange(max(1, len(text) - CHARACTERS * length))
        ids = tokenizer(text[start : start + CHARACTERS * length], add_special_tokens=False)["input_ids"][:length]
        if len(ids) >= LEAST_TOKENS:
            found.append(Window(tuple(ids), (False, *(True,) * (len(ids) - 1))))
    if not found:
        raise TrainingRefused(f"--texts: {listing.name} names no text file that can be read.")
    return found


def _kept_for_dev(one: Any) -> bool:
    return isinstance(one, dict) and one.get("split", "train") != "train"
