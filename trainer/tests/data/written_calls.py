"""What every chat template that trl ships writes of tool calls. The service's tests read it back from a file that
`python -m data.written_calls` writes (in trainer/tests)."""

import json
from pathlib import Path
from typing import Any

from data.test_shipped_templates import ENDS, NAMES, tokenizer_of
from imprint_trainer.data.calls import Call, own_words, tool_format
from imprint_trainer.data.templates import ChatTemplate, Traits, call, chat_template, traits_of
from imprint_trainer.errors import TemplateUnsupported

FILE = Path(__file__).parents[3] / "packages/server/test/fixtures/written-calls.json"

TEXTS = {
    "command": "echo \"a\" 'b' `c` \\d $x\n\tcd {dir} && ls [1]; true, false\n",
    "path": "src/é/😀 <b>.py",
    "old": "print('a', 'b')",
}
OTHERS = {"limit": 20, "ratio": -1.5, "all": True, "dry": False, "none": None, "list": ["1", 2, None], "empty": []}
NESTED = {"edits": {"new": 'say("no")', "at": [1, {"deep": True, "quote": "it's"}]}}
CALLS = (Call("run_command", TEXTS | OTHERS | NESTED), Call("mcp__files-read", {"path": "3"}), Call("list", {}))
KINDS = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null", list: "array"}
SCHEMAS = {
    name: {
        "type": "object",
        "properties": {key: {"type": KINDS.get(type(value), "object")} for key, value in of.items()},
    }
    for name, of in CALLS
}
WORDS = "I look."


def turn(template: ChatTemplate, traits: Traits, calls: tuple[Call, ...]) -> str:
    """What the model writes of a turn with these calls, up to what ends it."""
    written = [
        call(name, of if traits.object_arguments else json.dumps(of, ensure_ascii=False), number)
        for number, (name, of) in enumerate(calls)
    ]
    words = WORDS if traits.text_with_calls else ""
    own = own_words(template, {"role": "assistant", "content": words, "tool_calls": written}).rstrip("\n")
    return next((own.removesuffix(end) for end in ENDS if own.endswith(end)), own)


def written_by(name: str) -> dict[int, tuple[str, str, bool]]:
    """By the number of calls: the format, the text, and whether words stand in it; empty where none is written."""
    template = chat_template(tokenizer_of(name), reasoning=False, date=None)
    try:
        traits = traits_of(template)
    except TemplateUnsupported:
        return {}
    counts = (1, len(CALLS)) if traits.parallel_calls else (1,)
    form = tool_format(template, traits)
    return {
        count: (form, turn(template, traits, CALLS[:count]), traits.text_with_calls)
        for count in (counts if traits.calls else ())
    }


def recorded() -> dict[str, Any]:
    found: dict[tuple[str, str, int, bool], list[str]] = {}
    for name in NAMES:
        for count, (form, text, words) in written_by(name).items():
            found.setdefault((form, text, count, words), []).append(name)
    return {
        "tools": [{"name": name, "parameters": schema} for name, schema in SCHEMAS.items()],
        "calls": [one._asdict() for one in CALLS],
        "words": WORDS,
        "written": [
            {"templates": names, "format": form, "calls": count, "words": words, "text": text}
            for (form, text, count, words), names in found.items()
        ],
    }


def as_text() -> str:
    return json.dumps(recorded(), ensure_ascii=False, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    FILE.write_text(as_text(), encoding="utf-8")
