"""Text of an answer while it grows: whole characters, cut before what ends it."""

from collections.abc import Sequence
from typing import Any

INCOMPLETE = "\ufffd"  # how a decoder shows a character whose last bytes are still to come


class Detokenizer:
    """Tokens in, whole characters out: all pieces and the rest together are the text of all tokens, of control tokens
    only with `special`: some families begin a call with one."""

    def __init__(self, tokenizer: Any, *, special: bool = False) -> None:
        self._tokenizer = tokenizer
        self._special = special
        self._tokens: list[int] = []
        self._told = 0  # tokens whose text was given out

    def add(self, token: int) -> str:
        """The text that became whole with this token; often none."""
        self._tokens.append(token)
        text = self._decode(self._tokens)
        piece = text[len(self._decode(self._tokens[: self._told])) :]
        if text.endswith(INCOMPLETE) or not piece:
            return ""
        # What was given out last stays: some decoders write a token differently at the start of a text.
        self._tokens = self._tokens[self._told :]
        self._told = len(self._tokens)
        return piece

    def rest(self) -> str:
        """What never became whole."""
        return self._decode(self._tokens)[len(self._decode(self._tokens[: self._told])) :]

    def _decode(self, tokens: Sequence[int]) -> str:
        text = self._tokenizer.decode(tokens, skip_special_tokens=not self._special, clean_up_tokenization_spaces=False)
        return str(text)


class StopTexts:
    """Text in, text up to the first stop text out. What may be the beginning of one is held back."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stops)
        self._held = ""
        self.found: str | None = None  # the text that ended the answer

    def add(self, piece: str) -> str:
        held = self._held + piece
        places = [(held.find(stop), stop) for stop in self._stops if stop in held]
        if places:
            # The one that was complete first, so that the cut does not depend on how the text came in pieces.
            start, self.found = min(places, key=lambda place: (place[0] + len(place[1]), place[0]))
            self._held = ""
            return held[:start]
        kept = max((begun(held, stop) for stop in self._stops), default=0)
        self._held = held[len(held) - kept :]
        return held[: len(held) - kept]

    def rest(self) -> str:
        """What was held back, once nothing follows any more."""
        return self._held


def begun(text: str, stop: str) -> int:
    """How many characters at the end of `text` are the beginning of `stop`."""
    longest = min(len(text), len(stop) - 1)
    return next((length for length in range(longest, 0, -1) if text.endswith(stop[:length])), 0)
