"""Tool calls in an answer's text, read by the same table as in the service: `packages/contracts/src/tool-calls.ts`."""

import json
import re
from collections.abc import Iterator, Mapping
from os.path import commonprefix
from pathlib import Path
from typing import Any, NamedTuple

from imprint_trainer.data.templates import ANSWER, USER, ChatTemplate, Traits, call

FORMATS: Mapping[str, Mapping[str, Any]] = json.loads(
    (Path(__file__).parent / "tool-calls.json").read_text(encoding="utf-8")
)
Schemas = Mapping[str, Any]  # of the tools' arguments, by the tools' names

NAME = re.compile(r"\s*([^\s\"'<>{}()\[\]|｜,=]+)")
KEY = re.compile(r"\s*([^\s:,=\"'<>{}()\[\]]+)")
BARE = re.compile(r"[\s;]*(?=\{)")  # a call without a mark; Llama parts several by semicolons
NAMED = re.compile(r"[\s\[]*\{\s*\"name\"\s*:\s*\"((?:[^\"\\]|\\.)+)\"")  # of JSON that is cut off
SCALAR = re.compile(r"\s*(true|false|null|True|False|None|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])")
WORDS = {"True": True, "False": False, "None": None}  # as Python writes them
QUOTED = re.compile(r"\s*(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)')", re.S)
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U(00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.S)
ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\\": "\\", "'": "'", '"': '"', "/": "/"}
# What stands behind an argument's text that is not escaped: the next argument, or the call's end.
BEHIND = r"(?=\s*(?:,\s*[^\s:,=\"'<>{}()\[\]]+\s*=|\)\s*(?:,[^\"'<>{}()\[\]|｜,=]+\(|\])))"


class Call(NamedTuple):
    """`arguments` is None where they were cut off or cannot be read: the tool's name is known all the same."""

    name: str
    arguments: Any


def tool_format(template: ChatTemplate, traits: Traits) -> str:
    """How a template writes calls: the first format that reads back what it writes of one."""
    probe = Call("wombat_tool", {"path": "potoroo's\nden"})
    if not traits.calls:
        return "generic"
    arguments = probe.arguments if traits.object_arguments else json.dumps(probe.arguments)
    own = own_words(template, {"role": "assistant", "content": "", "tool_calls": [call(probe.name, arguments)]})
    return next((name for name in FORMATS if read_calls(own, name) == [probe]), "generic")


def own_words(template: ChatTemplate, turn: Mapping[str, Any]) -> str:
    """What the model writes of a turn: the text behind the generation prompt."""
    written = template.render([USER, turn])
    prompts = [prompt for prompt in template.prompts([USER]) if written.startswith(prompt)]
    header = max(prompts, key=len, default=commonprefix([written, template.render([USER, ANSWER])]))
    return written[len(header) :]


def read_calls(text: str, name: str, schemas: Schemas | None = None) -> list[Call]:
    """The calls of an answer in the format of that name, up to one that cannot be read. `schemas` say which values
    between tags are no texts."""
    form = FORMATS[name]
    patterns = [*form["calls"], *form.get("left_out", ())]
    bare = "{bare}" in patterns
    opening = re.compile("|".join(f"(?={re.escape(one.split()[0])})" for one in patterns if one != "{bare}"))
    found: list[Call] = []
    at, fresh = 0, True  # no words since the answer's beginning, or since a call
    while place := (bare and fresh and BARE.match(text, at)) or opening.search(text, at):
        readers = [Reader(text, place.end(), form, schemas or {}) for _ in patterns]
        whole = next((one for one, pattern in zip(readers, patterns, strict=True) if one.read(pattern)), None)
        begun = next((one for one in readers if one.calls or one.name), None)
        if whole:
            found += whole.calls
            at = whole.at
        elif begun:
            return [*found, *begun.calls, *([Call(begun.name, None)] if begun.name else [])]
        else:
            at = place.end() + (not (bare and fresh))
        fresh = whole is not None
    return found


class Reader:
    """Reads one pattern from a place on."""

    def __init__(self, text: str, at: int, form: Mapping[str, Any], schemas: Schemas) -> None:
        self.text, self.at, self.form, self.schemas = text, at, form, schemas
        self.name = ""
        self.calls: list[Call] = []

    def read(self, pattern: str) -> bool:
        """Whether it stands there as a whole, but for what follows its last slot."""
        parts = re.split(r"\{(\w+)\}", pattern)
        closed = False
        try:
            for place, part in enumerate(parts):
                if place % 2:
                    self.slot(part, parts[place + 1].strip())
                    closed = part not in ("name", "word")
                elif [mark for mark in part.split() if not self.follows(mark)] and not closed:
                    return False
        except (ValueError, RecursionError):
            return False
        return True

    def slot(self, slot: str, behind: str) -> None:
        """What the slot stands for; a ValueError where it is something else."""
        match slot:
            case "name":
                self.name = self.match(NAME)
            case "word":
                self.match(re.compile(rf"([A-Za-z0-9_<|>:. -]*?)(?=\s*{re.escape(behind.split()[0])})"))
            case "thought":
                end = self.text.find(behind, self.at)
                self.at = end if end >= 0 else len(self.text)
            case "python":
                self.python()
            case "json" | "bare":
                self.json(bare=slot == "bare")
            case _:
                read = {"object": self.object, "parameters": self.parameters, "members": self.members}[slot]
                self.calls = [Call(self.name, read(behind))]

    def follows(self, mark: str) -> bool:
        """Goes over white space and the mark, where it stands there."""
        found = re.compile(r"\s*" + re.escape(mark)).match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found is not None

    def expect(self, mark: str) -> None:
        if not self.follows(mark):
            raise ValueError(mark)

    def match(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise ValueError(pattern.pattern)
        self.at = found.end()
        return found[1]

    def parsed(self) -> Any:
        start = re.compile(r"\s*").match(self.text, self.at)
        value, self.at = json.JSONDecoder().raw_decode(self.text, start.end() if start else self.at)
        return value

    def json(self, *, bare: bool) -> None:
        cut = NAMED.match(self.text, self.at)
        self.name = cut[1] if cut else ""
        value, calls = self.parsed(), []
        for one in value if isinstance(value, list) else [value]:
            inner = one.get("function") if isinstance(one, dict) else {}
            call_of = inner if isinstance(inner, dict) else one
            key = next((key for key in ("arguments", "parameters") if call_of.get(key) is not None), None)
            named = call_of.get("name")
            self.name = named if isinstance(named, str) else ""
            if not self.name or (bare and (key is None or next(iter(one)) not in ("name", "type"))):
                self.name = ""
                raise ValueError("no call")
            calls.append(Call(self.name, object_or_text(call_of[key] if key else {})))
        self.calls = calls

    def object(self, _: str) -> Any:
        return object_or_text(self.parsed())

    def parameters(self, behind: str) -> dict[str, Any]:
        before, between, after = re.split(r"\{\w+\}", self.form["parameter"])
        closing = behind.split()[0]
        next_one = f"(?=\\s*(?:{re.escape(before.split()[0])}|{re.escape(closing)}))"
        start = re.compile(rf"\s*{loose(before)}([^\s\"'<>={{}}]+)\s*{loose(between)}")
        value = re.compile(rf"(.*?){loose(after)}{next_one}", re.S)
        found = {}
        while not self.follows(closing):
            key = self.match(start)
            found[key] = self.typed(key, self.match(value))
        return found

    def typed(self, key: str, text: str) -> Any:
        """What a text between tags says: a text unless the tool's schema has none there."""
        schema = self.schemas.get(self.name)
        properties = schema.get("properties") if isinstance(schema, Mapping) else None
        if is_text(properties.get(key) if isinstance(properties, Mapping) else None):
            return text
        try:
            return WORDS[text.strip()] if text.strip() in WORDS else json.loads(text)
        except ValueError:
            return text

    def members(self, _: str) -> dict[str, Any]:
        self.expect("{")
        quote = re.escape(self.form["quote"])
        return self.items("}", ":", quote, quote)

    def python(self) -> None:
        self.expect("[")
        quote = self.form.get("quote")
        for _ in self.listed("]"):
            self.name = self.match(NAME)
            self.expect("(")
            self.calls.append(Call(self.name, self.items(")", "=", quote and quote + BEHIND, None)))
            self.name = ""

    def items(self, end: str, between: str, quote: str | None, inner: str | None) -> dict[str, Any]:
        """Keys and values up to `end`. Texts that begin with the form's quote go on to `quote`, those of values in
        values to `inner`; where these are None they are quoted and escaped as in JSON or Python."""
        found: dict[str, Any] = {}
        for _ in self.listed(end):
            key = self.quoted(quote)
            key = self.match(KEY) if key is None else key
            self.expect(between)
            found[key] = self.value(quote, inner)
        return found

    def listed(self, end: str) -> Iterator[None]:
        """Stops before each of what stands between commas, up to `end`."""
        first = True
        while not self.follows(end):
            if not first:
                self.expect(",")
            yield
            first = False

    def value(self, quote: str | None, inner: str | None) -> Any:
        if self.follows("{"):
            return self.items("}", ":", inner, inner)
        if self.follows("["):
            return [self.value(inner, inner) for _ in self.listed("]")]
        text = self.quoted(quote)
        if text is not None:
            return text
        word = self.match(SCALAR)
        return WORDS[word] if word in WORDS else json.loads(word)

    def quoted(self, quote: str | None) -> str | None:
        if quote and self.follows(self.form["quote"]):
            return self.match(re.compile(f"(.*?){quote}", re.S))
        found = QUOTED.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return ESCAPE.sub(unescaped, found[1] if found[2] is None else found[2])


def object_or_text(value: Any) -> Any:
    if isinstance(value, dict | str):
        return value
    raise ValueError("no arguments")


def unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    return chr(int(code, 16)) if code else ESCAPED.get(found[4], found[0])


def loose(mark: str) -> str:
    """A pattern of a mark, with any white space between its words; a line break at its ends belongs to it if there."""
    words = r"\s*".join(re.escape(word) for word in mark.split())
    return "\n?" * mark.startswith("\n") + words + "\n?" * mark.endswith("\n")


def is_text(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return True
    options = next((schema[key] for key in ("anyOf", "oneOf") if isinstance(schema.get(key), list)), None)
    if options is not None:
        return any(is_text(option) for option in options)
    if isinstance(schema.get("enum"), list):
        return any(isinstance(value, str) for value in schema["enum"])
    kinds = schema.get("type", "string")
    return "string" in (kinds if isinstance(kinds, list) else [kinds])
