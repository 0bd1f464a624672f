"""What each supervised token is a part of: a tool's name, a path, a command, code, or prose.

Names and arguments are found in the answer as the template writes it, call by call: an argument behind its key, quoted
as JSON or as it is. Code is also what stands in fenced blocks of the text before the calls. What is left, brackets and
keys of calls included, is prose. A token has the kind of the first of its characters that has one.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from imprint_trainer.data.edits import TARGET_NAMES
from imprint_trainer.data.session import Step
from imprint_trainer.data.windows import Window
from imprint_trainer.generation.generate import INCOMPLETE

Kind = Literal["tool_name", "path", "command", "code", "prose"]
KINDS: tuple[Kind, ...] = ("tool_name", "path", "command", "code", "prose")

# Compared without case, "_" and "-": agents write file_path, filePath and FilePath.
PATH_KEYS = frozenset(
    ["path", "paths", "file", "files", "filename", "filenames", "dir", "directory", "cwd", "workdir"]
) | {
    *("filepath", "filepaths", "targetfile", "absolutepath", "relativepath", "notebookpath", "dirpath"),
    *("directorypath", "workingdirectory", "relativeworkspacepath"),
}
COMMAND_KEYS = frozenset({"command", "commands", "cmd", "commandline", "script"})
CODE_KEYS = frozenset(name.lower().replace("_", "") for name in TARGET_NAMES) | {
    *("newstring", "newstr", "newtext", "newcontent", "newsource", "content", "contents", "filetext", "code"),
    *("codeedit", "patch", "diff", "inserttext", "insertedtext", "insertline", "replacement", "source"),
}

FENCED = re.compile(r"^ *(`{3,}|~{3,})[^\n`]*\n(.*?)(?:^ *\1|\Z)", re.M | re.S)
BETWEEN = 24  # characters of quotes, marks and line breaks between a key and its value, or two items of a list


class Span(NamedTuple):
    start: int
    end: int
    kind: Kind


def token_kinds(steps: Sequence[Step], windows: Sequence[Window], tokenizer: Any) -> list[list[Kind]]:
    """For each window of a session the kinds of its targets, in order."""
    found: list[list[Kind]] = [[] for _ in windows]
    answers: dict[int, list[tuple[int, int, int]]] = {}  # by step: window, first token, end
    for number, window in enumerate(windows):
        for step, start, end in window.answer_spans:
            answers.setdefault(step, []).append((number, start, end))
    kinds: dict[tuple[int, int], Kind] = {}
    for step, parts in answers.items():  # the parts of an answer that is split are read as one text
        places = [(number, place) for number, start, end in parts for place in range(start, end)]
        texts = token_texts([windows[number].input_ids[place] for number, place in places], tokenizer)
        kinds |= zip(places, kinds_of_texts(texts, spans("".join(texts), steps[step])), strict=True)
    for number, window in enumerate(windows):
        targets = [place for place, target in enumerate(window.supervised) if target and place]
        found[number] = [kinds.get((number, place), "prose") for place in targets]
    return found


def token_texts(ids: Sequence[int], tokenizer: Any) -> list[str]:
    """The characters that each token adds; those of a character of several tokens are the last one's."""

    def decoded(first: int, end: int) -> str:
        text = tokenizer.decode(list(ids[first:end]), skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return str(text)

    texts = []
    first = whole = 0  # tokens up to `whole` were told; the last of them stay: some decoders look at what stands before
    for end in range(1, len(ids) + 1):
        text = decoded(first, end)
        if text.endswith(INCOMPLETE) and end < len(ids):
            texts.append("")
        else:
            texts.append(text[len(decoded(first, whole)) :])
            first, whole = whole, end
    return texts


def kinds_of_texts(texts: Sequence[str], marked: Sequence[Span]) -> Iterator[Kind]:
    """The kind of each piece of a text; `marked` is sorted and does not overlap."""
    position, index = 0, 0
    for text in texts:
        end = position + len(text)
        while index < len(marked) and marked[index].end <= position:
            index += 1
        inside = index < len(marked) and marked[index].start < max(end, position + 1)
        yield marked[index].kind if inside else "prose"
        position = end


def spans(answer: str, step: Step) -> list[Span]:
    """The marked stretches of an answer, sorted, none within another."""
    found: list[Span] = []
    said = step.text.strip()
    cursor = spoken = answer.find(said) + len(said) if said in answer else 0
    for call in step.tool_calls:
        name = re.compile(rf"(?<!\w){re.escape(call.name)}(?!\w)").search(answer, cursor)
        if name is None:
            continue
        start, cursor = name.span()
        found.append(Span(start, cursor, "tool_name"))
        for span in arguments(answer, cursor, call.arguments):
            found.append(span)
            cursor = span.end
    fenced = [Span(block.start(2), block.end(2), "code") for block in FENCED.finditer(answer, 0, spoken)]
    return sorted(span for span in (*fenced, *found) if span.start < span.end)


def arguments(answer: str, cursor: int, text: str) -> Iterator[Span]:
    """The arguments of a call that have a kind of their own, behind `cursor`, in the order of the call."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    if isinstance(value, str):  # a patch or a program, handed over as it is
        span = written(answer, forms_of(value), cursor, len(answer))
        yield from [Span(*span, "code")] if span else []
        return
    for key, item, first in leaves(value, ""):
        kind, forms = kind_of_key(key), forms_of(item)
        named = first and key
        span = behind_key(answer, key, forms, cursor) if named else written(answer, forms, cursor, cursor + BETWEEN)
        if span is not None:
            cursor = span[1]
            if kind is not None:
                yield Span(*span, kind)


def kind_of_key(key: str) -> Kind | None:
    name = re.sub(r"[_-]", "", key).lower()
    if name in PATH_KEYS:
        return "path"
    if name in COMMAND_KEYS:
        return "command"
    return "code" if name in CODE_KEYS else None


def leaves(value: Any, key: str, first: bool = True) -> Iterator[tuple[str, str, bool]]:
    """The texts of an argument: the key that each belongs to, and whether it is the first one behind that key."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from leaves(item, name)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from leaves(item, key, first and place == 0)
    elif isinstance(value, str) and value:
        yield key, value, first


def behind_key(answer: str, key: str, forms: Sequence[str], cursor: int) -> tuple[int, int] | None:
    for found in re.finditer(re.escape(key), answer[cursor:]):
        if span := written(answer, forms, cursor + found.end(), cursor + found.end() + BETWEEN):
            return span
    return None


def forms_of(value: str) -> list[str]:
    """The ways in which templates write a text."""
    return list(dict.fromkeys((json.dumps(value, ensure_ascii=False)[1:-1], value, json.dumps(value)[1:-1])))


def written(answer: str, forms: Sequence[str], first: int, last: int) -> tuple[int, int] | None:
    """Where one of the forms begins between two places."""
    for form in forms:
        place = answer.find(form, first, last + len(form))
        if place >= 0:
            return place, place + len(form)
    return None
