"""Ten texts that no session is about: those of proofs and evaluations, and six that only this evaluation reads."""

from importlib.resources import files
from typing import Any

from imprint_trainer.adapters.neutral import MAX_TOKENS, TEXTS, neutral_window
from imprint_trainer.data.windows import Window

OWN = ("recipe", "history", "dialogue", "javascript", "manual", "sql")


def neutral_windows(tokenizer: Any) -> dict[str, Window]:
    """By name, each of at most 512 tokens."""
    found = {name: neutral_window(tokenizer, name) for name in TEXTS}
    for name in OWN:
        ids = tuple(tokenizer(text_of(name), add_special_tokens=False)["input_ids"][:MAX_TOKENS])
        found[name] = Window(ids, (False, *(True,) * (len(ids) - 1)))
    return found


def text_of(name: str) -> str:
    """`name`: one of OWN."""
    return files("imprint_trainer.doc_to_lora.evaluation").joinpath("texts", f"{name}.txt").read_text("utf-8")
