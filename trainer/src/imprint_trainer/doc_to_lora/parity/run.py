"""Every case of a folder, with its worst error per tensor."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from imprint_trainer.doc_to_lora.parity.case import load_case
from imprint_trainer.doc_to_lora.parity.compare import Check
from imprint_trainer.doc_to_lora.parity.run_case import run_case
from imprint_trainer.doc_to_lora.parity.texts import run_chunking, run_texts

_FILES: dict[str, Callable[[Path], list[Check]]] = {
    "chunking.json": lambda path: run_chunking(json.loads(path.read_text(encoding="utf-8"))),
    "context-text.json": lambda path: run_texts(json.loads(path.read_text(encoding="utf-8"))),
}


def cases_of(folder: Path) -> Iterator[tuple[str, Callable[[], list[Check]]]]:
    """The cases of a folder, by name; a folder that is a case itself counts as one."""
    candidates = sorted(folder.iterdir()) if folder.is_dir() else []
    if (folder / "case.json").is_file():
        candidates = [folder]
    for path in candidates:
        if path.name in _FILES:
            yield path.name, lambda path=path: _FILES[path.name](path)  # type: ignore[misc]
        elif (path / "case.json").is_file():
            yield path.name, lambda path=path: run_case(load_case(path))  # type: ignore[misc]


def run_folder(folder: Path, write: Callable[[str], object]) -> tuple[int, int]:
    """Cases passed and failed. A case that cannot be read or computed fails with the reason."""
    passed = failed = 0
    for name, run in cases_of(folder):
        write(name)
        try:
            checks = run()
        except Exception as error:  # whatever stops a case, the others still run
            checks = [Check("case", float("inf"), f"{type(error).__name__}: {error}")]
        for check in checks:
            verdict = "ok  " if check.passed else "FAIL"
            write(f"  {verdict} {check.name:<28} {check.worst:9.4f} of the tolerance  {check.note}".rstrip())
        good = bool(checks) and all(check.passed for check in checks)
        passed, failed = passed + good, failed + (not good)
    return passed, failed
