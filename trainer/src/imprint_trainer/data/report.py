"""What windows cost: how much of what a pass reads is read for the first time, and how much of it is learned.

    python -m imprint_trainer windows --base FOLDER [--max-length N] [--tokens N ...] [--turns N ...] [--seed N]

prints one JSON object for each made-up session.
"""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.data.session import Session
from imprint_trainer.data.synthetic import synthetic_session
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
    lessons = sum(len(window.lessons) for window in prepared.windows)
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


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m imprint_trainer windows", description=__doc__)
    parser.add_argument("--base", required=True, type=Path, help="folder with the tokenizer of a base model")
    parser.add_argument("--max-length", type=int, nargs="+", default=[1024, 4096], help="tokens in a training window")
    parser.add_argument("--tokens", type=int, nargs="*", default=[], help="sessions of about so many tokens")
    parser.add_argument("--turns", type=int, nargs="*", default=[], help="sessions of so many agent turns")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    from imprint_trainer.models.tokenizer import load_tokenizer

    tokenizer = load_tokenizer(options.base)
    sessions = [synthetic_session(tokens=tokens, seed=options.seed) for tokens in options.tokens]
    sessions += [synthetic_session(turns=turns, seed=options.seed) for turns in options.turns]
    for session in sessions:
        for max_length in options.max_length:
            print(json.dumps(report(session, tokenizer, max_length=max_length)), flush=True)
    return 0
