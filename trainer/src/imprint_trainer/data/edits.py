"""Edits that name the text they replace, and whether that text is in sight (training-data rule 3)."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

# What Claude Code, Gemini CLI, opencode, pi, SWE-agent, OpenHands and others call the text that an edit replaces.
TARGET_NAMES = frozenset({"old_string", "oldString", "old_str", "oldText", "old_text", "old_content", "oldContent"})

# aider and Cline write the text to be replaced between marks (aider: docs/more/edit-formats).
SEARCH_BLOCK = re.compile(r"^(?:<{5,9}|-{5,9}) SEARCH\s*?\n(.*?)^={5,9}\s*?$", re.M | re.S)
# Codex's apply_patch: lines that begin with a space or a minus stand in the file that a line before them names.
PATCHED_FILE = re.compile(r"^\*\*\* Update File: .*\n((?:(?!\*\*\* ).*\n?)*)", re.M)
ESCAPES = re.compile(r"\\+[nrt]|\s+|\\+")
LINE_NUMBER = re.compile(r"\d*[→|:.)-]?")


def targets(text: str, calls: Iterable[str]) -> list[str]:
    """The texts that a turn replaces: `text` is what it says, `calls` are the arguments of its calls."""
    found = list(marked(text))
    for arguments in calls:
        try:
            value = json.loads(arguments)
        except (ValueError, RecursionError):
            value = arguments
        found += named(value)
    return [target for target in found if squashed(target)]


def named(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from named(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from named(item, name)
    elif isinstance(value, str):
        yield from [value] if name in TARGET_NAMES else marked(value)


def marked(text: str) -> Iterator[str]:
    if " SEARCH" in text:
        yield from (found.group(1) for found in SEARCH_BLOCK.finditer(text))
    if "*** Update File" in text:
        for found in PATCHED_FILE.finditer(text):
            # Hunks are told apart by lines that begin with @@.
            for hunk in re.split(r"^@@.*\n?", found.group(1), flags=re.M):
                yield "\n".join(line[1:] for line in hunk.splitlines() if line[:1] in (" ", "-"))


def said(message: Mapping[str, Any]) -> str:
    """All that a chat message shows: its words, and the arguments of its calls."""
    calls = [call["function"]["arguments"] for call in message.get("tool_calls", ())]
    return "\n".join([message["content"], *(json.dumps(one, ensure_ascii=False) for one in calls)])


def squashed(text: str) -> str:
    """Without white space and the escapes of JSON: the same however often a text was quoted."""
    return ESCAPES.sub("", text) if "\\" in text else "".join(text.split())


def in_sight(target: str, seen: str) -> bool:
    """Whether every line of `target` stands in `seen`, which is squashed; what stands between the lines is free, since
    tools print numbers there."""
    lines = [squashed(line) for line in target.splitlines()]
    return all(line in seen for line in sorted(lines, key=len, reverse=True))  # the longest is the rarest


def place(target: str, text: str) -> tuple[int, int] | None:
    """The characters [start, end) of the lines of `text` that hold the lines of `target`, one after the other."""
    wanted = [line for line in map(squashed, target.splitlines()) if line]
    lines, position = [], 0
    for line in text.splitlines(keepends=True):
        lines.append((squashed(line), position, position + len(line)))
        position += len(line)
    for first, (line, start, _) in enumerate(lines):
        if wanted[0] not in line:
            continue
        found, end = 0, start
        for line, _, stop in lines[first:]:
            if found < len(wanted) and wanted[found] in line:
                found, end = found + 1, stop
            elif found == len(wanted) or not LINE_NUMBER.fullmatch(line):
                break
        if found == len(wanted):
            return start, end
    return None
