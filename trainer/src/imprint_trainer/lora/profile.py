"""What the profile `learn` decides by the data, and the learning rate where a request names none."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Learn:
    tokens: int = 300_000  # little text is read several times, much of it once
    usual: int = 2  # passes
    steps: int = 8  # at least, where few windows can be read up to `most` times
    most: int = 4
    patience: int = 1  # epochs without a lower held-out loss

    def passes(self, tokens: int, steps: int) -> int:
        """Epochs over windows of so many tokens, which take so many optimizer steps."""
        enough = min(math.ceil(self.steps / max(steps, 1)), self.most)
        return min(max(self.tokens // max(tokens, 1), 1), max(self.usual, enough))


LEARN = Learn()

# Chosen by docs/results.md for the default model; wider bases take less (docs/adr/0022).
RATE, WIDTH = 1e-3, 576


def default_rate(width: int) -> float:
    """Peak learning rate for a base model with hidden states of `width`."""
    return RATE * math.sqrt(WIDTH / max(width, WIDTH))
