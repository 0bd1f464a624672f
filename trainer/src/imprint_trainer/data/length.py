"""How long training windows are, where nobody says."""

STEP = 128  # lengths are rounded up to multiples of this
USUAL = 1024  # tokens: shorter only where the base model was not made for so many
# On a CPU a token costs about a tenth more at 2,048 than at 1,024, nearly twice as much at 8,192: attention.
MOST_ON_CPU = 2048


def rounded(tokens: int) -> int:
    return -(-tokens // STEP) * STEP


def length_limit(*, made_for: int, fits: int, on_cpu: bool) -> int:
    """Tokens of a window at most: no more than the base model was made for, and than fit into memory."""
    return min(made_for, max(USUAL, min(fits, MOST_ON_CPU) if on_cpu else fits))


def window_length(asked: int | None, *, limit: int, needed: int) -> int:
    """Tokens of a window; where none are asked for, as many as the length_limit session of `needed` tokens takes, up to
    `limit`."""
    return asked if asked is not None else min(limit, max(USUAL, rounded(needed)))
