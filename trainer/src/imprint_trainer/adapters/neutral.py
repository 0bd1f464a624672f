"""Text that no session is about: its loss before and after says what an adapter made the model forget."""

from importlib.resources import files
from typing import Any

import torch

from imprint_trainer.data.windows import Window
from imprint_trainer.lora.loss import Read, mean_loss, read_whole
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.models.causal_lm import CausalLM

MAX_TOKENS = 512

# Proofs read the mixed one, evaluations all of them.
TEXTS = {
    "mixed": "neutral.txt",
    "letter": "neutral-letter.txt",
    "python": "neutral-python.txt",
    "shell": "neutral-shell.txt",
}


def neutral_window(tokenizer: Any, name: str = "mixed") -> Window:
    """`name`: one of TEXTS."""
    text = files("imprint_trainer.adapters").joinpath(TEXTS[name]).read_text(encoding="utf-8")
    ids = tuple(tokenizer(text, add_special_tokens=False)["input_ids"][:MAX_TOKENS])
    return Window(ids, (False, *(True,) * (len(ids) - 1)))


def neutral_loss(model: CausalLM, tokenizer: Any, device: torch.device, read: Read = read_whole) -> float:
    """Nats per token."""
    return mean_loss(model, [neutral_window(tokenizer)], device, read)


def neutral_loss_of_base(base: LoadedBase) -> float:
    """Of the bare base, computed once while it is resident."""
    if "neutral_loss" not in base.memo:
        base.memo["neutral_loss"] = neutral_loss(base.model, base.tokenizer, base.device)
    return float(base.memo["neutral_loss"])
