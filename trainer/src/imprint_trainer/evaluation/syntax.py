"""Reads tool calls out of answers: in the chat template's own syntax, found by probing it, or in the fallback.

The fallback is what `data/messages.py` writes where a template has none: `<tool_call>{"name", "arguments"}`.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from os.path import commonprefix
from typing import TYPE_CHECKING, Any

from imprint_trainer.data.messages import tool_call_block
from imprint_trainer.data.template import ChatTemplate, chat_template
from imprint_trainer.data.traits import ANSWER, USER, call, traits_of
from imprint_trainer.evaluation.calls import Call

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

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
