"""Text to tokens and back, so that what a session says never becomes a control token.

Long texts are cut where no token reaches across, and each part is encoded once.
"""

import copy
import re
import string
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate, chain, islice, pairwise, product
from typing import TYPE_CHECKING, Any, NamedTuple

from imprint_trainer.errors import BaseModelInvalid

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


PRIVATE_USE = range(0xF0000, 0xFFFFE)  # plane 15: no template and no tokenizer gives these characters a meaning

# Templates look for these in what is said, whether or not the tokenizer knows them.
PARSED_BY_TEMPLATES = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")


@dataclass(frozen=True)
class Encoded:
    """Tokens and the characters [start, end) that each of them covers."""

    ids: tuple[int, ...]
    starts: "Sequence[int] | JoinedPlaces"
    ends: "Sequence[int] | JoinedPlaces"

    def first_from(self, character: int) -> int:
        """The first token that begins at `character` or behind it; the number of tokens where none does."""
        starts = self.starts
        return starts.first_from(character) if isinstance(starts, JoinedPlaces) else bisect_left(starts, character)


@dataclass(frozen=True)
class JoinedPlaces:
    """Those of a text in parts, worked out where they are asked for: windows ask where answers begin and end."""

    of_part: Callable[[int], Sequence[int]]
    tokens: Sequence[int]  # before each part, and in all
    characters: Sequence[int]  # before each part, and in all

    def first_from(self, character: int) -> int:
        """As `bisect_left`, which would work out the places of a part at each step."""
        part = bisect_left(self.characters, character) - 1
        if part in (-1, len(self.characters) - 1):
            return 0 if part < 0 else len(self)
        return self.tokens[part] + bisect_left(self.of_part(part), character - self.characters[part])

    def __len__(self) -> int:
        return self.tokens[-1]

    def __getitem__(self, index: int, /) -> int:
        token = range(len(self))[index]
        part = bisect_right(self.tokens, token) - 1
        return self.characters[part] + self.of_part(part)[token - self.tokens[part]]


@dataclass(frozen=True)
class Codec:
    """A tokenizer and the stand-ins that hide its added tokens inside a session's own text.

    A session may quote `<|im_end|>` or `</think>`. `hide` replaces such strings by one private character each, so that
    neither the chat template nor the tokenizer sees them; `encode` tokenizes them as the ordinary text that they are.
    """

    tokenizer: "PreTrainedTokenizerBase"
    stand_ins: Mapping[str, str]  # added token or marker -> private character
    control_ids: frozenset[int]
    literals: Mapping[str, str] = field(default_factory=dict)  # the same, reversed
    _counts: dict[str, int] = field(default_factory=dict, compare=False, repr=False)

    def hide(self, text: str) -> str:
        return self._added.sub(lambda found: self.stand_ins[found.group()], text) if self.stand_ins else text

    def hide_all(self, value: Any) -> Any:
        """`hide`, for every string inside a JSON value."""
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, dict):
            return {self.hide(key): self.hide_all(item) for key, item in value.items()}
        return [self.hide_all(item) for item in value] if isinstance(value, list | tuple) else value

    def reveal(self, text: str) -> str:
        return self._private.sub(lambda found: self.literals[found.group()], text) if self.literals else text

    def count(self, text: str) -> int:
        """Tokens of hidden text. The same texts are asked for again and again, so the answers are kept."""
        if text not in self._counts:
            if self._hides(text):
                self._counts[text] = len(self.encode(text).ids)
            else:
                self.expect([text])
        return self._counts[text]

    def expect(self, texts: Iterable[str]) -> None:
        """Counts texts that will be asked for: together they take all cores."""
        parts = {text: self._encodings.parts(text) for text in texts if not self._hides(text)}
        found = iter(self._encodings.ids(list(chain.from_iterable(parts.values()))))
        self._counts.update((text, sum(map(len, islice(found, len(one))))) for text, one in parts.items())

    def decode(self, ids: Iterable[int]) -> str:
        decoded = self.tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return str(decoded)

    def encode(self, text: str) -> Encoded:
        """Tokenize hidden text; offsets count the characters of the text as given."""
        known = self._encodings
        parts = known.parts(text)
        found = known.ids(parts)
        tokens = list(accumulate(map(len, found), initial=0))
        characters = list(accumulate(map(len, parts), initial=0))
        encoded = Encoded(
            tuple(array("I", b"".join(found))),
            JoinedPlaces(lambda part: known.covered(parts[part]).starts, tokens, characters),
            JoinedPlaces(lambda part: known.covered(parts[part]).ends, tokens, characters),
        )
        return self._spelled_out(text, encoded) if self._hides(text) else encoded

    def _hides(self, text: str) -> bool:
        return not text.isascii() and any(character in text for character in self.literals)

    def _spelled_out(self, text: str, encoded: Encoded) -> Encoded:
        """Encode again each stretch between control tokens that holds a stand-in, now with its literal text."""
        ids: list[int] = []
        starts: list[int] = []
        ends: list[int] = []
        for first, last, control in stretches(encoded, self.control_ids):
            start, end = encoded.starts[first], encoded.ends[last - 1]
            if control or not self._private.search(text, start, end):
                ids += encoded.ids[first:last]
                starts += [encoded.starts[index] for index in range(first, last)]
                ends += [encoded.ends[index] for index in range(first, last)]
            else:
                found, covered = self._plain(text[start:end], start)
                ids += found
                starts += covered.starts
                ends += covered.ends
        return Encoded(tuple(ids), tuple(starts), tuple(ends))

    def _plain(self, hidden: str, origin: int) -> tuple[list[int], Covered]:
        places: list[int] = []  # of each revealed character, the hidden character it stems from
        for place, character in enumerate(hidden):
            places += [origin + place] * len(self.literals.get(character, character))
        places.append(origin + len(hidden))
        guard = self._guard
        encoding = backend(self.tokenizer, plain=True).encode(guard + self.reveal(hidden), add_special_tokens=False)
        kept = [
            (token, (max(start - len(guard), 0), end - len(guard)))
            for token, (start, end) in zip(encoding.ids, encoding.offsets, strict=True)
            if end > len(guard)
        ]
        covered = covering(offset for _, offset in kept)
        return [token for token, _ in kept], Covered(
            tuple(places[start] for start in covered.starts), tuple(places[end - 1] + 1 for end in covered.ends)
        )

    @cached_property
    def _added(self) -> re.Pattern[str]:
        return re.compile("|".join(re.escape(token) for token in sorted(self.stand_ins, key=len, reverse=True)))

    @cached_property
    def _encodings(self) -> Encodings:
        return encodings_of(self.tokenizer)

    @cached_property
    def _private(self) -> re.Pattern[str]:
        return re.compile("[" + "".join(self.literals) + "]")

    @cached_property
    def _guard(self) -> str:
        """A character to encode ahead of plain text and drop again, where a tokenizer marks the start of a text."""
        return "\n" if marks_start(self.tokenizer) else ""


def codec_for(tokenizer: "PreTrainedTokenizerBase", texts: Iterable[str]) -> Codec:
    """The codec of a tokenizer for a session's texts. Raises BaseModelInvalid for a tokenizer without offsets."""
    if not getattr(tokenizer, "is_fast", False):
        raise BaseModelInvalid("The base model has no tokenizer.json: a tokenizer with character offsets is needed.")
    taken = {character for text in texts for character in set(text) if ord(character) in PRIVATE_USE}
    free = (chr(code) for code in PRIVATE_USE if chr(code) not in taken)
    added = tokenizer.added_tokens_decoder
    strings = [str(token.content) for token in added.values() if token.content.strip()]
    stand_ins = {string: next(free) for string in dict.fromkeys([*strings, *PARSED_BY_TEMPLATES])}
    return Codec(
        tokenizer=tokenizer,
        stand_ins=stand_ins,
        control_ids=frozenset(tokenizer.all_special_ids) | {token for token, entry in added.items() if entry.special},
        literals={character: token for token, character in stand_ins.items()},
    )


def stretches(encoded: Encoded, control_ids: frozenset[int]) -> Iterable[tuple[int, int, bool]]:
    """Runs [first, last) of tokens: each control token alone, the tokens between them together."""
    first = 0
    for index, token in enumerate(encoded.ids):
        if token in control_ids:
            if first < index:
                yield first, index, False
            yield index, index + 1, True
            first = index + 1
    if first < len(encoded.ids):
        yield first, len(encoded.ids), False
