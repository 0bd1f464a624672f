"""The next action: what the model calls where the recorded agent called a tool (one call a turn, the first).

Calls are read out of answers in the chat template's own syntax, found by probing it, or in the fallback that
`data/messages.py` writes where a template has none: `<tool_call>{"name", "arguments"}`.
"""

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from os.path import commonprefix
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from imprint_trainer.data.messages import json_object, tool_call_block
from imprint_trainer.data.session import Step
from imprint_trainer.data.templates import ANSWER, USER, ChatTemplate, call, chat_template, traits_of
from imprint_trainer.data.windows import Window
from imprint_trainer.evaluation.kinds import kind_of_key, leaves

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


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


NAME, KEYS, VALUES = "wombat_tool", ("quoll_key", "bilby_key"), ("numbat_value", "galah_value")
PROBE = dict(zip(KEYS, VALUES, strict=True))
TOOL = r"(?P<tool>[^\s\"'<>{}()\[\]|｜,]+?)"


@dataclass(frozen=True)
class JsonSyntax:
    """The tool's name between two marks, and its arguments as JSON."""

    opening: re.Pattern[str]

    def read(self, text: str) -> Call | None:
        found = self.opening.search(text)
        if found is None:
            return None
        try:
            value, _ = json.JSONDecoder().raw_decode(text, found.end())
        except (ValueError, RecursionError):
            value = None
        return Call(found["tool"], value if isinstance(value, dict | str) else None)


@dataclass(frozen=True)
class TaggedSyntax:
    """The tool's name between two marks, and each argument as a name and a text between marks of their own."""

    opening: re.Pattern[str]
    argument: re.Pattern[str]
    closing: str

    def read(self, text: str) -> Call | None:
        found = self.opening.search(text)
        if found is None:
            return None
        arguments, place = {}, found.end()
        while one := self.argument.match(text, place):
            arguments[one["key"]] = one["value"]
            place = one.end()
        return Call(found["tool"], arguments if re.match(self.closing, text[place:]) else None)


Syntax = JsonSyntax | TaggedSyntax


def syntaxes(tokenizer: "PreTrainedTokenizerBase") -> list[Syntax]:
    """Those to try on an answer of the model, the template's own first."""
    template = chat_template(tokenizer, reasoning=False, date=None)
    traits = traits_of(template)
    found: list[Syntax | None] = [json_syntax(tool_call_block(NAME, PROBE))]
    if traits.calls:
        arguments = PROBE if traits.object_arguments else json.dumps(PROBE)
        own = own_words(template, {"role": "assistant", "content": "", "tool_calls": [call(NAME, arguments)]})
        found.insert(0, json_syntax(own) or tagged_syntax(own))
    return [syntax for syntax in found if syntax is not None]


def read_call(text: str, known: Sequence[Syntax]) -> Call | None:
    """The first call of an answer, whole in one syntax, or else cut off in one; None where it calls nothing."""
    calls = [found for syntax in known if (found := syntax.read(text))]
    return next((found for found in calls if found.arguments is not None), calls[0] if calls else None)


def own_words(template: ChatTemplate, turn: dict[str, Any]) -> str:
    """What the model writes of a turn: the text behind the generation prompt."""
    written = template.render([USER, turn])
    prompts = [prompt for prompt in template.prompts([USER]) if written.startswith(prompt)]
    header = max(prompts, key=len, default=commonprefix([written, template.render([USER, ANSWER])]))
    return written[len(header) :]


def json_syntax(own: str) -> JsonSyntax | None:
    """From a probe's call as the template writes it; None where the arguments are not written as JSON."""
    name, key = own.find(NAME), own.find(KEYS[0])
    brace = own.rfind("{", 0, max(key, 0))
    if not 0 <= name < brace:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(own, brace)
    except ValueError:
        return None
    return JsonSyntax(opening(own[:name], own[name + len(NAME) : brace])) if value == PROBE else None


def tagged_syntax(own: str) -> TaggedSyntax | None:
    pieces = re.split("|".join((NAME, *KEYS, *VALUES)), own)
    if len(pieces) != 6:
        return None
    before, first, between, after, _, end = pieces
    shared = common_suffix(first, after)  # what opens an argument
    if shared == first:  # the name's own end is a part of it: what opens an argument begins a line
        shared = shared.partition("\n")[2]
    close = after.removesuffix(shared)
    argument = loose(shared) + r"(?P<key>[^\s\"'<>]+?)" + loose(between) + r"\s?(?P<value>.*?)\s?" + loose(close)
    return TaggedSyntax(
        opening(before, first.removesuffix(shared)),
        re.compile(r"\s*" + argument, re.S),
        r"\s*" + loose(end.removeprefix(close)),
    )


def common_suffix(one: str, other: str) -> str:
    return commonprefix([one[::-1], other[::-1]])[::-1]


def opening(before: str, after: str) -> re.Pattern[str]:
    start = loose(before) or r"\A"
    return re.compile(start + r"\s*" + TOOL + r"\s*" + (loose(after) or r"(?=\{)") + r"\s*")


def loose(literal: str) -> str:
    """A pattern of a mark, whatever white space is between its words."""
    return r"\s*".join(re.escape(word) for word in re.findall(r"\w+|[^\w\s]", literal))


TOKENS = 256  # of an answer, at most
Judged = dict[str, bool]  # by the names of MEASURES
MEASURES = ("valid_call", "same_tool", "same_arguments", "same_file", "loop")


@dataclass(frozen=True)
class Action:
    """What stands before a turn in its window, what the agent called there, and what it had called before."""

    prompt: tuple[int, ...]
    expected: Call
    previous: Call | None


@dataclass(frozen=True)
class Actions:
    """`unread`: turns with a call that cannot be read back from how the template writes it; they are not sampled."""

    sampled: tuple[Action, ...]
    unread: int


def next_actions(
    sessions: Sequence[tuple[Sequence[Step], Sequence[Window]]],
    tokenizer: "PreTrainedTokenizerBase",
    *,
    most: int,
    seed: int,
) -> Actions:
    """At most `most` turns that call a tool, of all sessions, spread evenly."""
    if not most:
        return Actions((), 0)
    known = syntaxes(tokenizer)
    found: list[Action] = []
    calling = 0
    for steps, windows in sessions:
        seen: set[int] = set()
        for window in windows:
            for step, start, end in window.answer_spans:
                if not steps[step].tool_calls or step in seen:
                    continue
                seen.add(step)
                calling += 1
                expected = read_answer(window.input_ids[start:end], tokenizer, known)
                if expected is not None and expected.arguments is not None:
                    prompt = window.input_ids[:start]
                    found.append(Action(prompt, expected, call_before(steps, step)))
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


def read_answer(ids: Sequence[int], tokenizer: Any, known: Sequence[Syntax]) -> Call | None:
    text = tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False)
    return read_call(text, known)


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
