"""Text that no session is about: its loss before and after says what an adapter made the model forget."""

from importlib.resources import files
from typing import Any

import torch

from imprint_trainer.data.windows import Window
from imprint_trainer.lora.loss import Read, mean_loss, read_whole
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.models.causal_lm import CausalLM

MAX_TOKENS = 512

# Proofs of trainings read the mixed one, those of imprints IMPRINT_TEXTS, evaluations all of them.
TEXTS = {
    "mixed": "neutral.txt",
    "letter": "neutral-letter.txt",
    "python": "neutral-python.txt",
    "shell": "neutral-shell.txt",
}

# Not the shell's: what programs print is what sessions are full of (ADR 35).
IMPRINT_TEXTS = ("mixed", "letter", "python")


def neutral_window(tokenizer: Any, name: str = "mixed", tokens: int = MAX_TOKENS) -> Window:
    """The first `tokens` of one of TEXTS."""
    text = files("imprint_trainer.adapters").joinpath(TEXTS[name]).read_text(encoding="utf-8")
    ids = tuple(tokenizer(text, add_special_tokens=False)["input_ids"][:tokens])
    return Window(ids, (False, *(True,) * (len(ids) - 1)))


def neutral_loss(
    model: CausalLM,
    tokenizer: Any,
    device: torch.device,
    read: Read = read_whole,
    *,
    name: str = "mixed",
    tokens: int = MAX_TOKENS,
) -> float:
    """Nats per token."""
    return mean_loss(model, [neutral_window(tokenizer, name, tokens)], device, read)


def neutral_loss_of_base(
    base: LoadedBase, name: str = "mixed", tokens: int = MAX_TOKENS, read: Read = read_whole
) -> float:
    """Of the bare base, computed once while it is resident."""
    losses: dict[tuple[str, int], float] = base.memo.setdefault("neutral_loss", {})
    if (name, tokens) not in losses:
        losses[name, tokens] = neutral_loss(base.model, base.tokenizer, base.device, read, name=name, tokens=tokens)
    return losses[name, tokens]
