"""Texts that are too long keep their beginning, their end, and what is still needed of their middle."""

from collections.abc import Sequence

from imprint_trainer.data.codec import Codec, Encoded

Range = tuple[int, int]  # characters [start, end) of a text


def shortened(text: str, *, tokens: int, codec: Codec, keep: Sequence[Range] = ()) -> str:
    """The text cut to at most `tokens` tokens, with markers that say how many characters are gone.

    It loses its middle but for the stretches `keep`; of those the last go first where they do not fit. When not even
    the marker fits, the marker alone is returned.
    """
    return text if codec.count(text) <= tokens else cut_down(text, codec.encode(text), tokens, codec, keep)


def cut_down(text: str, encoded: Encoded, tokens: int, codec: Codec, keep: Sequence[Range]) -> str:
    """`shortened`, for a text that is encoded already."""
    if len(encoded.ids) <= tokens:
        return text
    for count in range(len(keep), -1, -1):
        found = ends_and(keep[:count], text, encoded, tokens, codec)
        if found is not None:
            return found
    return joined([], text, codec)


def ends_and(keep: Sequence[Range], text: str, encoded: Encoded, tokens: int, codec: Codec) -> str | None:
    """As much of the text's beginning and end as fits beside `keep`; None when nothing does."""
    length = len(encoded.ids)
    ends = tokens - codec.count(joined(keep, text, codec))
    while ends > 0:
        first, last = ends - ends // 2, ends // 2
        tail = encoded.starts[length - last] if last else len(text)
        candidate = joined([(0, encoded.ends[first - 1]), *keep, (tail, len(text))], text, codec)
        excess = codec.count(candidate) - tokens
        if excess <= 0:
            return candidate
        ends -= excess
    return None


def joined(ranges: Sequence[Range], text: str, codec: Codec) -> str:
    """The stretches of a text, with a marker for each gap."""
    parts: list[str] = []
    reached = 0
    for start, end in [*sorted(ranges), (len(text), len(text))]:
        if start > reached:
            parts.append(marker(len(codec.reveal(text[reached:start]))))
        parts.append(text[max(start, reached) : end])
        reached = max(reached, end)
    return "".join(parts)


def marker(characters: int) -> str:
    return f"\n[... {characters} characters cut ...]\n"


def fair_shares(sizes: list[int], total: int) -> list[int]:
    """A limit for each size so that they fit `total` together: small ones keep all, large ones share what is left."""
    shares = [0] * len(sizes)
    left = max(total, 0)
    order = sorted(range(len(sizes)), key=sizes.__getitem__)
    for place, index in enumerate(order):
        shares[index] = min(sizes[index], left // (len(order) - place))
        left -= shares[index]
    return shares
