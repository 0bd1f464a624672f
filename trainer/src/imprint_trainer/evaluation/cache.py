"""Measurements that are finished, kept between evaluations: one that was interrupted goes on, base rows are shared."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")


@dataclass(frozen=True)
class Cache:
    """A folder of small JSON files, each named by the SHA-256 of all that decides what it holds."""

    folder: Path

    def kept(self, facts: Mapping[str, Any], shape: TypeAdapter[T], measure: Callable[[], T]) -> T:
        """What was measured under the same `facts`, or else what `measure` gives. A damaged file counts for none."""
        name = sha256_of_json(facts)
        path = self.folder / f"{name}.json"
        found = self._read(path, name, shape)
        if found is None:
            found = measure()
            value = shape.dump_python(found, mode="json")
            self._write(path, {"value": value, "sha256": sha256_of_json([name, value])})
        return found

    def _read(self, path: Path, name: str, shape: TypeAdapter[T]) -> T | None:
        try:
            entry = json.loads(path.read_text(encoding="utf-8"))
            if entry["sha256"] == sha256_of_json([name, entry["value"]]):
                return shape.validate_json(json.dumps(entry["value"]), strict=True)
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            pass
        return None

    def _write(self, path: Path, entry: Mapping[str, Any]) -> None:
        """As a whole: two workers may write at once."""
        self.folder.mkdir(parents=True, exist_ok=True)
        descriptor, part = tempfile.mkstemp(dir=self.folder, prefix=".part-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(entry, file, allow_nan=False)
            Path(part).replace(path)
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise


def sha256_of_json(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
