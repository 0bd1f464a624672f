"""What texts are encoded to: cut where no token reaches across, and each part encoded once."""

import copy
import re
import string
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise, product
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerBase

KEPT = 16 * 2**20  # characters of parts whose tokens are kept: about 100 MB

# What stands on either side of newlines where a tokenizer is tried.
NEWLINES = ("\n", "\na", "\n0", "\n/", "\n a", "\n\ta", "\n\na", "\n    a")
LETTERS, SIGNS = string.ascii_letters + string.digits, string.punctuation

# Newlines before which a text is cut, and behind which it is; searches for patterns that begin with a letter are fast.
LINE_ENDS = re.compile(r"\n(?<=[!-~]\n)")
WORD_ENDS = re.compile(r"\n(?<=[A-Za-z0-9]\n)")
WORD_STARTS = re.compile(r"\n(?<=[!-/:-@\[-`{-~]\n)(?=[A-Za-z0-9])")


class Covered(NamedTuple):
    starts: tuple[int, ...]
    ends: tuple[int, ...]


@dataclass(frozen=True)
class Seams:
    """Where a text can be cut without changing a token: around added tokens, which are taken out before all else, and
    at newlines where pre-tokenization ends words there."""

    added: re.Pattern[str] | None = None
    before: re.Pattern[str] | None = None  # newlines that begin a part
    behind: re.Pattern[str] | None = None  # newlines that end a part

    def parts(self, text: str) -> list[str]:
        """Joined they are the text; none is empty."""
        between = self.added.split(text) if self.added else [text]
        return [part for one in between if one for part in self._lines(one)]

    def _lines(self, text: str) -> Iterator[str]:
        places = [found.start() for found in self.before.finditer(text)] if self.before else []
        if self.behind:
            places = sorted([*places, *(found.end() for found in self.behind.finditer(text))])
        return (text[start:end] for start, end in pairwise([0, *places, len(text)]))


@dataclass(frozen=True)
class Encodings:
    """Outputs repeat each other, windows the turns that were measured, and previews what was previewed before: the
    tokens of parts are kept until there are too many of them. For one thread at a time."""

    backend: "Tokenizer"
    seams: Seams
    _ids: dict[str, "array[int]"] = field(default_factory=dict)
    _covered: dict[str, Covered] = field(default_factory=dict)
    _kept: list[int] = field(default_factory=lambda: [0])  # characters

    def parts(self, text: str) -> list[str]:
        return self.seams.parts(text)

    def ids(self, parts: Sequence[str]) -> list["array[int]"]:
        """The tokens of each part; those that are not known are encoded together, on all cores."""
        if self._kept[0] > KEPT:
            self._ids.clear()
            self._covered.clear()
            self._kept[0] = 0
        missing = [part for part in dict.fromkeys(parts) if part not in self._ids]
        found = self.backend.encode_batch_fast(missing, add_special_tokens=False) if missing else []
        for part, encoding in zip(missing, found, strict=True):
            self._ids[part] = array("I", encoding.ids)
            self._kept[0] += len(part)
        return [self._ids[part] for part in parts]

    def covered(self, part: str) -> Covered:
        if part not in self._covered:
            self._covered[part] = covering(self.backend.encode(part, add_special_tokens=False).offsets)
        return self._covered[part]


def covering(offsets: Iterable[tuple[int, int]]) -> Covered:
    """Offsets without gaps: byte-level tokenizers leave a token's leading space out of its offsets."""
    starts: list[int] = []
    ends: list[int] = []
    reached = 0
    for start, end in offsets:
        starts.append(min(start, reached))
        reached = max(reached, end)
        ends.append(reached)
    return Covered(tuple(starts), tuple(ends))


@lru_cache(maxsize=2)
def encodings_of(tokenizer: "PreTrainedTokenizerBase") -> Encodings:
    return Encodings(backend(tokenizer), seams(tokenizer))


@lru_cache(maxsize=8)
def backend(tokenizer: "PreTrainedTokenizerBase", *, plain: bool = False) -> "Tokenizer":
    """A copy, since a training may use the original right now; `plain`: control tokens are ordinary text to it."""
    copied: Tokenizer = copy.deepcopy(tokenizer.backend_tokenizer)
    copied.no_truncation()
    copied.no_padding()
    copied.encode_special_tokens = plain
    return copied


@lru_cache(maxsize=8)
def marks_start(tokenizer: "PreTrainedTokenizerBase") -> bool:
    alone, after = (backend(tokenizer, plain=True).encode(text, add_special_tokens=False).ids for text in ("a", "\na"))
    return bool(alone != after[-len(alone) :])


def seams(tokenizer: "PreTrainedTokenizerBase") -> Seams:
    """None for tokenizers that heed what stands around."""
    added = [token for token in tokenizer.added_tokens_decoder.values() if token.content and not token.normalized]
    if marks_start(tokenizer) or any(token.lstrip or token.rstrip or token.single_word for token in added):
        return Seams()
    contents = sorted((re.escape(token.content) for token in added), key=len, reverse=True)
    around = re.compile(f"({'|'.join(contents)})") if contents else None
    if word_ends(tokenizer, LETTERS + SIGNS, NEWLINES):
        return Seams(around, LINE_ENDS)
    before = WORD_ENDS if word_ends(tokenizer, LETTERS, NEWLINES) else None
    behind = WORD_STARTS if word_ends(tokenizer, [f"{sign}\n" for sign in SIGNS], "aZ0") else None
    return Seams(around, before, behind)


def word_ends(tokenizer: "PreTrainedTokenizerBase", lefts: Sequence[str], rights: Sequence[str]) -> bool:
    """Whether a word ends between each of `lefts` and `rights`, and each is encoded as it would be alone."""
    for left, right in product(lefts, rights):
        texts = [left + right, left, right]
        whole, first, second = backend(tokenizer).encode_batch(texts, add_special_tokens=False)
        words = whole.word_ids[len(first) - 1 : len(first) + 1]
        if whole.ids != [*first.ids, *second.ids] or len(set(words)) < 2:
            return False
    return True
