"""Tool calls as data: what two of them have in common."""

import json
import re
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from imprint_trainer.evaluation.kinds import kind_of_key, leaves

# Codex's apply_patch names the files in its text.
PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.M)


class Call(NamedTuple):
    """`arguments` is None where they were cut off or are no JSON: the tool's name is known all the same."""

    name: str
    arguments: Any


def same_arguments(one: Any, other: Any, key: str = "") -> bool:
    """Equal but for the order of JSON, white space, how scalars are quoted, and absolute against relative paths."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_arguments(one[name], other[name], name) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same_arguments(a, b, key) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict | list) or isinstance(other, dict | list):
        return False
    first, second = words_of(one), words_of(other)
    return first == second or (kind_of_key(key) == "path" and same_path(first, second))


def words_of(value: Any) -> str:
    return " ".join((value if isinstance(value, str) else json.dumps(value)).split())


def same_path(one: str, other: str) -> bool:
    """Whether they name one file, where one of them may be absolute and the other relative."""
    first, second = PurePosixPath(one.replace("\\", "/")).parts, PurePosixPath(other.replace("\\", "/")).parts
    if first == second:
        return True
    longer, shorter = (first, second) if is_absolute(first) else (second, first)
    return is_absolute(longer) and bool(shorter) and not is_absolute(shorter) and longer[-len(shorter) :] == shorter


def is_absolute(parts: tuple[str, ...]) -> bool:
    return bool(parts) and (parts[0].startswith("/") or re.fullmatch(r"[A-Za-z]:", parts[0]) is not None)


def files_of(call: Call) -> list[str]:
    """The files that a call names: its path arguments, and those of a patch."""
    named = [words_of(text) for key, text, _ in leaves(call.arguments, "") if kind_of_key(key) == "path"]
    texts = [text for _, text, _ in leaves(call.arguments, "")]
    return [*named, *(found.strip() for text in texts for found in PATCHED.findall(text))]


def same_files(one: Call, other: Call) -> bool:
    """Whether both name files, and the same ones."""
    first, second = files_of(one), files_of(other)
    return bool(first) and covers(first, second) and covers(second, first)


def covers(files: list[str], others: list[str]) -> bool:
    return all(any(same_path(file, other) for other in others) for file in files)


def same_call(one: Call, other: Call) -> bool:
    return one.name == other.name and one.arguments is not None and same_arguments(one.arguments, other.arguments)
