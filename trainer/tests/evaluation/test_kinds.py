import itertools
import json
import random
from typing import Any

import pytest

from data.families import tokenizer_of
from data.sessions import agent, session_of, user
from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.data.session import Session
from imprint_trainer.evaluation.kinds import KINDS, Span, spans, token_kinds, token_texts

FAMILIES = ["chatml", "qwen2_5", "qwen3", "llama3", "llama3_1", "mistral", "gemma", "gptoss", "deepseekv3"]
PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch"
EDIT = {"file_path": "src/prices.py", "old_string": 'a "quoted"\n\tline', "new_string": "b = 'é'\n"}


def read(session: Session, family: str, max_length: int = 2048) -> tuple[dict[str, str], int]:
    """The text of each kind, stretches parted by a bar; and the windows."""
    tokenizer = tokenizer_of(family)
    windows = prepare_windows(session, tokenizer, max_length=max_length).windows
    found: dict[str, str] = dict.fromkeys(KINDS, "")
    for window, kinds in zip(windows, token_kinds(session.steps, windows, tokenizer), strict=True):
        ids = [token for token, target in zip(window.input_ids, window.supervised, strict=True) if target]
        assert len(kinds) == len(ids)
        texts = zip(kinds, token_texts(ids, tokenizer), strict=True)
        for kind, run in itertools.groupby(texts, key=lambda pair: pair[0]):
            found[kind] += "".join(text for _, text in run) + "|"
    return found, len(windows)


def holds(marked: str, text: str) -> bool:
    return text in marked or json.dumps(text, ensure_ascii=False)[1:-1] in marked


@pytest.mark.parametrize("family", FAMILIES)
def test_names_and_arguments_of_calls_are_told_apart(family: str) -> None:
    session = session_of(
        user("Fix it."),
        agent("I look.", ("bash", json.dumps({"command": "ls -la src", "timeout": 5}), "prices.py")),
        agent("", ("edit", json.dumps(EDIT), "ok")),
        agent("Done with bash and edit."),
    )
    found, _ = read(session, family)
    assert holds(found["command"], "ls -la src")
    assert holds(found["path"], "src/prices.py")
    assert holds(found["code"], EDIT["old_string"])
    assert holds(found["code"], EDIT["new_string"])
    assert "bash" in found["tool_name"]
    assert "edit" in found["tool_name"]
    assert found["tool_name"].count("|") == 2  # a name in the text is prose
    assert "I look." in found["prose"]
    assert "timeout" in found["prose"]
    assert "src" not in found["prose"].replace("ls -la src", "")


def test_lists_nested_edits_and_arguments_that_are_no_object_are_found() -> None:
    edits = [{"old_string": "first old", "new_string": "first new"}, {"oldText": "second old", "newText": "second new"}]
    session = session_of(
        user("Fix it."),
        agent("", ("shell", json.dumps({"command": ["bash", "-lc", "make test"], "workdir": "/w"}), "ok")),
        agent("", ("multi", json.dumps({"filePath": "b.py", "edits": edits, "note": "b.py"}), "ok")),
        agent("", ("apply_patch", PATCH, "ok")),
    )
    found, _ = read(session, "qwen2_5")
    assert all(word in found["command"] for word in ("bash", "-lc", "make test"))
    assert all(word in found["code"] for word in ("first old", "first new", "second old", "second new"))
    assert holds(found["code"], PATCH)
    assert found["path"].count("b.py") == 1
    assert "/w" in found["path"]


def test_fenced_blocks_of_the_text_are_code() -> None:
    session = session_of(user("How?"), agent("So:\n```python\nprint(1)\n```\nand `x`, or\n~~~\nleft open"))
    found, _ = read(session, "chatml")
    assert found["code"].replace("|", "") == "print(1)\nleft open"
    assert "```python" in found["prose"]


@pytest.mark.parametrize(
    "arguments", ['["ls", "-la"]', '{"": "ls"}', "null", "[]", '{"path": ""}', '{"path": ["", "a.py"]}']
)
def test_arguments_of_unusual_shapes_are_read(arguments: str) -> None:
    found, _ = read(session_of(user("Go."), agent("", ("run", arguments, "ok"))), "qwen2_5")
    assert found["tool_name"] == "run|"


@pytest.mark.parametrize("arguments", ['{"": "absent"}', '{"path": "absent"}', '["absent"]', "absent"])
def test_arguments_that_the_template_does_not_write_have_no_kind(arguments: str) -> None:
    (_, step) = session_of(user("Go."), agent("", ("run", arguments, "ok"))).steps
    assert spans('{"name": "run", "path": "present"}', step) == [Span(10, 13, "tool_name")]


def test_an_answer_over_several_windows_is_read_as_one() -> None:
    content = "".join(f"line {number} of the file\n" for number in range(200))
    call = ("write", json.dumps({"path": "long.txt", "content": content}), "ok")
    found, windows = read(session_of(user("Write it."), agent("I write.", call)), "qwen2_5", max_length=512)
    assert windows > 2
    assert found["code"].replace("|", "").count("line") == 200
    assert found["path"].startswith("long.txt")
    assert "line" not in found["prose"]


WORDS = [
    "path",
    "é",
    "日本",
    "🎉",
    "a.py",
    "```",
    "\n",
    '"',
    "\\",
    "<tool_call>",
    "bash",
    " ",
    "{",
    "command",
    "�",
    "1",
]


@pytest.mark.parametrize("seed", range(12))
def test_each_target_has_one_kind_whatever_a_session_says(seed: int) -> None:
    source = random.Random(seed)

    def text(most: int) -> str:
        return "".join(source.choices(WORDS, k=source.randint(0, most)))

    def call() -> tuple[str, str, str]:
        value: Any = {source.choice(WORDS): source.choice([text(9), [text(3), text(3)], {"cmd": text(4)}, 3, None])}
        return (source.choice(["bash", "tool", "name"]), source.choice([json.dumps(value), text(5)]), text(5))

    steps = [user("Go."), *(agent(text(12) or "x", *[call() for _ in range(source.randint(0, 2))]) for _ in range(6))]
    family = source.choice(FAMILIES)
    found, _ = read(session_of(*steps), family, max_length=source.choice([500, 900]))  # asserts one kind a target
    assert set(found) == set(KINDS)


@pytest.mark.parametrize("family", ["chatml", "llama3"])
def test_the_texts_of_tokens_are_the_text(family: str) -> None:
    tokenizer = tokenizer_of(family)
    for words in itertools.permutations(["é 日本", "🎉", "def f():", "\n\n", "  x"], 3):
        text = "".join(words)
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        assert "".join(token_texts(ids, tokenizer)) == text
        assert len(token_texts(ids, tokenizer)) == len(ids)
