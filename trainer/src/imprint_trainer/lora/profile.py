"""What the profile `learn` decides by the data, and the learning rate where a request names none."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Learn:
    tokens: int = 300_000  # short sessions are read several times, until so many are read
    fewest: int = 1  # passes over the sessions
    most: int = 2
    patience: int = 1  # epochs without a lower held-out loss

    def passes(self, tokens: int) -> int:
        """Epochs over windows of so many tokens."""
        return min(max(self.tokens // max(tokens, 1), self.fewest), self.most)


LEARN = Learn()

# Chosen by docs/efficacy.md for the default model; wider bases take less (docs/adr/0022).
RATE, WIDTH = 1e-3, 576


def default_rate(width: int) -> float:
    """Peak learning rate for a base model with hidden states of `width`."""
    return RATE * math.sqrt(WIDTH / max(width, WIDTH))
