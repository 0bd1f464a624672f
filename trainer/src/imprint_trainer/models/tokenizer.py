"""Loads a tokenizer without its model: all that a preview needs."""

from pathlib import Path
from typing import Any

from imprint_trainer.errors import BaseModelInvalid
from imprint_trainer.models.locate import locate_base
from imprint_trainer.models.scan import refuse_unsafe


def tokenizer_of(base_model: str) -> Any:
    """The tokenizer of a path or hub id. Raises BaseModelNotFound too."""
    return load_tokenizer(locate_base(base_model).folder)


def load_tokenizer(folder: Path) -> Any:
    """Raises BaseModelUnsafe, BaseModelInvalid. A tokenizer is not shared between threads: each loads its own."""
    from transformers import AutoTokenizer

    refuse_unsafe(folder)
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        raise BaseModelInvalid(f"the tokenizer of {folder.name} cannot be loaded: {type(error).__name__}") from error
    if not tokenizer.is_fast:
        raise BaseModelInvalid(f"{folder.name} has no tokenizer.json")
    return tokenizer
