"""metrics.jsonl: one line a step, also after an interruption."""

import json
from collections.abc import Mapping
from pathlib import Path

METRICS = "metrics.jsonl"


def append(folder: Path, report: Mapping[str, float]) -> None:
    with (folder / METRICS).open("a", encoding="utf-8") as file:
        file.write(json.dumps(report, allow_nan=False) + "\n")


def cut_after(folder: Path, step: int) -> None:
    """Drop lines of steps that a resumed training does again, and a torn last line."""
    path = folder / METRICS
    if not path.is_file():
        return
    lines = path.read_text(encoding="utf-8").splitlines()[:step]  # line n is step n
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def read(folder: Path) -> list[dict[str, float]]:
    """All steps so far."""
    path = folder / METRICS
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []
