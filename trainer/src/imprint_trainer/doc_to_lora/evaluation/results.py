"""Results line by line: an evaluation that is cut off goes on where it was."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from imprint_trainer.doc_to_lora.training.refusal import TrainingRefused

Key = tuple[str | int, ...]
Results = dict[Key, dict[str, Any]]


class Part(Protocol):
    """Cases of one kind. `keys` may depend on results that stand before its own."""

    def keys(self, results: Results) -> Iterator[Key]: ...

    def case(self, key: Key, results: Results) -> dict[str, Any]: ...


def read_results(file: Path | None, identity: dict[str, Any]) -> Results:
    """What a file holds; a new one gets `identity` as its first line, and a line that was cut off is dropped.

    Raises TrainingRefused for results of anything else than `identity`.
    """
    if file is None:
        return {}
    if not file.is_file():
        file.write_text(json.dumps({"identity": identity}) + "\n", encoding="utf-8")
        return {}
    text = file.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        file.write_text(whole, encoding="utf-8")
    first, *lines = [json.loads(line) for line in whole.splitlines()] or [{}]
    if first.get("identity") != identity:
        raise TrainingRefused(
            f"--out: {file.name} holds results of another hypernetwork, set or corpus: name another file."
        )
    return {tuple(line.pop("key")): line for line in lines}


def measure(parts: Sequence[Part], results: Results, file: Path | None, note: Callable[[str], None]) -> None:
    """Adds every case that is missing, to `results` and to the file."""
    for part in parts:
        for key in part.keys(results):
            if key in results:
                continue
            results[key] = part.case(key, results)
            note(" ".join(map(str, key)))
            if file is not None:
                with file.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps({"key": key, **results[key]}) + "\n")
