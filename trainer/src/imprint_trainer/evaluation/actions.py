"""The next action: what the model calls where the recorded agent called a tool (one call a turn, the first).

Calls are read out of answers in the format of the chat template, as the service reads them (`data/calls.py`).
"""

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from imprint_trainer.data.calls import Call, Schemas, read_calls, tool_format
from imprint_trainer.data.messages import json_object
from imprint_trainer.data.session import Session, Step
from imprint_trainer.data.templates import chat_template, traits_of
from imprint_trainer.data.windows import Window
from imprint_trainer.evaluation.kinds import kind_of_key, leaves

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


# Codex's apply_patch names the files in its text.
PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.M)


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


TOKENS = 256  # of an answer, at most
Judged = dict[str, bool]  # by the names of MEASURES
MEASURES = ("valid_call", "same_tool", "same_arguments", "same_file", "loop")


@dataclass(frozen=True)
class Action:
    """What stands before a turn in its window, what the agent called there and before it, and the tools' schemas."""

    prompt: tuple[int, ...]
    expected: Call
    previous: Call | None
    schemas: Schemas


@dataclass(frozen=True)
class Actions:
    """`unread`: turns with a call that cannot be read back from how the template writes it; they are not sampled."""

    sampled: tuple[Action, ...]
    unread: int


def next_actions(
    sessions: Sequence[tuple[Session, Sequence[Window]]], tokenizer: "PreTrainedTokenizerBase", *, most: int, seed: int
) -> Actions:
    """At most `most` turns that call a tool, of all sessions, spread evenly."""
    if not most:
        return Actions((), 0)
    form = format_of(tokenizer)
    found: list[Action] = []
    calling = 0
    for session, windows in sessions:
        steps, schemas = session.steps, {tool.name: tool.parameters for tool in session.tools}
        seen: set[int] = set()
        for window in windows:
            for step, start, end in window.answer_spans:
                if not steps[step].tool_calls or step in seen:
                    continue
                seen.add(step)
                calling += 1
                expected = read_answer(window.input_ids[start:end], tokenizer, form, schemas)
                if expected is not None and expected.arguments is not None:
                    prompt = window.input_ids[:start]
                    found.append(Action(prompt, expected, call_before(steps, step), schemas))
    return Actions(spread(found, most, seed), calling - len(found))


def spread(found: Sequence[Action], most: int, seed: int) -> tuple[Action, ...]:
    """One of each of `most` stretches of equal length, all at the same place in theirs."""
    if len(found) <= most:
        return tuple(found)
    offset = random.Random(seed).random()
    return tuple(found[int((place + offset) * len(found) / most)] for place in range(most))


def call_before(steps: Sequence[Step], index: int) -> Call | None:
    """The last call of the turns before a step."""
    calls = [call for step in steps[:index] for call in step.tool_calls]
    if not calls:
        return None
    arguments = json_object(calls[-1].arguments)
    return Call(calls[-1].name, calls[-1].arguments if arguments is None else arguments)


def format_of(tokenizer: "PreTrainedTokenizerBase") -> str:
    """How answers of the model hold calls."""
    template = chat_template(tokenizer, reasoning=False, date=None)
    return tool_format(template, traits_of(template))


def read_answer(ids: Sequence[int], tokenizer: Any, form: str, schemas: Schemas) -> Call | None:
    """The first call of an answer; None where it calls nothing."""
    text = tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False)
    return next(iter(read_calls(text, form, schemas)), None)


def judged(action: Action, call: Call | None) -> Judged:
    """Which of MEASURES hold for an answer that made this call, or none."""
    if call is None:
        return dict.fromkeys(MEASURES, False)
    tool = call.name == action.expected.name
    whole = call.arguments is not None
    return {
        "valid_call": whole,
        "same_tool": tool,
        "same_arguments": tool and whole and same_arguments(call.arguments, action.expected.arguments),
        "same_file": same_files(call, action.expected),
        "loop": action.previous is not None and same_call(call, action.previous),
    }
