"""What windows cost: how much of what a pass reads is read for the first time, and how much of it is learned."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.data.session import Session
from imprint_trainer.data.windows import Window

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

RUN = 16  # tokens that make a stretch of text recognisable


def read_first(windows: Sequence[Window]) -> int:
    """Tokens of a pass that no window before showed: those that end a run of tokens which was not seen yet."""
    seen: set[tuple[int, ...]] = set()
    count = 0
    for window in windows:
        ids = window.input_ids
        runs = [ids[max(0, end - RUN) : end] for end in range(1, len(ids) + 1)]
        count += sum(run not in seen for run in runs)
        seen.update(runs)
    return count


def report(session: Session, tokenizer: "PreTrainedTokenizerBase", *, max_length: int) -> dict[str, Any]:
    """Counts of one pass over a session's windows, and the seconds of processor time that making them took."""
    started = time.process_time()
    prepared = prepare_windows(session, tokenizer, max_length=max_length)
    seconds = time.process_time() - started
    supervised = [window.supervised_count for window in prepared.windows]
    lessons = sum(len(window.answers) for window in prepared.windows)
    return {
        "session": session.session_id,
        "max_length": max_length,
        "windows": len(prepared.windows),
        "longest": max(len(window.input_ids) for window in prepared.windows),
        "tokens": prepared.tokens,
        "supervised_tokens": sum(supervised),
        "lessons": lessons,
        "supervised_share": round(sum(supervised) / prepared.tokens, 3),
        "new_share": round(read_first(prepared.windows) / prepared.tokens, 3),
        "dropped": {one.reason: one.count for one in prepared.dropped},
        "changed": {one.reason: one.count for one in prepared.changed},
        "seconds": round(seconds, 2),
    }
