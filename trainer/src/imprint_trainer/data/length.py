"""How long training windows are."""

AUTO = 1024  # tokens


def window_length(asked: int | None) -> int:
    """Tokens of a window at most; `asked` None: auto."""
    return AUTO if asked is None else asked
