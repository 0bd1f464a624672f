"""What the profile `learn` decides by the data. Learning rate and holdout of profiles: `PROFILES` in the contracts."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Learn:
    tokens: int = 300_000  # short sessions are read several times, until so many are read
    fewest: int = 1  # passes over the sessions
    most: int = 3
    patience: int = 1  # epochs without a lower held-out loss

    def passes(self, tokens: int) -> int:
        """Epochs over windows of so many tokens."""
        return min(max(self.tokens // max(tokens, 1), self.fewest), self.most)


LEARN = Learn()
