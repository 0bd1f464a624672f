"""Compares every file of a result with what the task is to leave, line by line, whatever their order."""

import hashlib
import json
import pathlib
import sys


def digest(file: pathlib.Path) -> str | None:
    if not file.is_file():
        return None
    lines = sorted(line.strip() for line in file.read_text(errors="replace").splitlines() if line.strip())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


expected = json.loads(pathlib.Path(__file__).with_name("expected.json").read_text())
wrong = [name for name, one in expected.items() if digest(pathlib.Path(name)) != one]
sys.exit(f"not as asked: {', '.join(wrong)}" if wrong else 0)
