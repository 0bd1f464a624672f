"""What is trained where trainings are measured: a session's windows, or made-up ones."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from imprint_trainer.data.windows import Window

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def session_windows(path: Path, tokenizer: "PreTrainedTokenizerBase", *, max_length: int, count: int) -> list[Window]:
    """The `count` longest windows of a stored session. Raises what `load_session` and `prepare_windows` raise."""
    from imprint_trainer.data.prepare import prepare_windows
    from imprint_trainer.data.session import load_session

    windows = prepare_windows(load_session(str(path)), tokenizer, max_length=max_length).windows
    return sorted(windows, key=lambda window: -len(window.input_ids))[:count]


def made_up_windows(vocabulary: int, *, lengths: Sequence[int], seed: int) -> list[Window]:
    """Random tokens of which the second half is supervised: the same for the same seed."""
    source = random.Random(seed)
    return [
        Window(tuple(source.choices(range(vocabulary), k=length)), tuple(2 * at >= length for at in range(length)))
        for length in lengths
    ]
