"""Texts that are too long keep their beginning and their end."""

from imprint_trainer.data.codec import Codec


def shortened(text: str, *, tokens: int, codec: Codec) -> str:
    """The text cut in its middle to at most `tokens` tokens, with a marker that says how many characters are gone.

    When not even the marker fits, the marker alone is returned.
    """
    encoded = codec.encode(text)
    length = len(encoded.ids)
    if length <= tokens:
        return text
    keep = tokens - codec.count(marker(len(text)))
    while keep > 0:
        first, last = keep - keep // 2, keep // 2
        start = encoded.ends[first - 1]
        end = encoded.starts[length - last] if last else len(text)
        candidate = text[:start] + marker(len(codec.reveal(text[start:end]))) + text[end:]
        excess = codec.count(candidate) - tokens
        if excess <= 0:
            return candidate
        keep -= excess
    return marker(len(codec.reveal(text)))


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
