"""Sessions of which enough can be held out to choose by."""

import json
from pathlib import Path
from typing import Any

from data.sessions import agent, session_json, user

WORDS = ("parser", "price", "comma", "total", "invoice", "column", "reader", "window", "branch", "commit")


def steps(seed: int, answers: int) -> list[dict[str, Any]]:
    found = []
    for turn in range(answers):
        words = " ".join(WORDS[(seed * 7 + turn * 3 + at * at) % len(WORDS)] for at in range(24))
        found += [user(f"What of {WORDS[(seed + turn) % len(WORDS)]} {turn}?"), agent(f"In {seed}.{turn}: {words}.")]
    return found


def write_sessions(folder: Path, *, count: int = 4, answers: int = 8) -> list[Path]:
    paths = [folder / f"s{number}.json" for number in range(1, count + 1)]
    for number, path in enumerate(paths, start=1):
        path.write_text(json.dumps(session_json(steps(number, answers), session_id=path.stem)))
    return paths
