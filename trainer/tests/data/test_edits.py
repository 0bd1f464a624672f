import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imprint_trainer.data.edits import in_sight, place, squashed, targets

OLD = "def add(a, b):\n    return a - b\n"
HUNK = "@@ class A\n def add(a, b):\n-    return a - b\n+    return a + b\n"
PATCH = f"*** Begin Patch\n*** Update File: a.py\n{HUNK}*** End Patch"
HUNKED = "def add(a, b):\n    return a - b"


@pytest.mark.parametrize("name", ["old_string", "oldString", "old_str", "oldText"])
def test_the_texts_that_editing_tools_replace_are_found_by_their_names(name: str) -> None:
    assert targets("", [json.dumps({"path": "a.py", name: OLD, "new": "x"})]) == [OLD]
    assert targets("", [json.dumps({"edits": [{name: OLD}, {name: "b"}]})]) == [OLD, "b"]


@pytest.mark.parametrize("call", [PATCH, json.dumps({"input": PATCH}), json.dumps({"command": ["bash", "-c", PATCH]})])
def test_the_lines_that_a_patch_finds_are_its_target(call: str) -> None:
    assert targets("", [call]) == [HUNKED]


@pytest.mark.parametrize("mark", ["<<<<<<< SEARCH", "------- SEARCH"])
def test_the_search_part_of_a_block_is_its_target(mark: str) -> None:
    block = f"{mark}\n{OLD}=======\nreturn a + b\n>>>>>>> REPLACE"
    assert targets(f"I fix it.\n\na.py\n{block}", []) == [OLD]
    assert targets("", [json.dumps({"path": "a.py", "diff": block})]) == [OLD]


def test_other_texts_and_calls_replace_nothing() -> None:
    assert targets("I SEARCH for it", ["*** not JSON", json.dumps({"command": "sed -i s/a/b/ a.py"})]) == []
    assert targets("", [json.dumps({"old_string": "  ", "new_string": "x"})]) == []
    assert targets("", ["*** Add File: a.py\n+def add(a, b):\n"]) == []


LINES = st.lists(st.text(alphabet='ab"\\\t {}n', min_size=1, max_size=8), min_size=1, max_size=6)


@given(LINES, LINES, LINES, st.integers(0, 3))
def test_a_text_is_in_sight_however_it_was_quoted(
    before: list[str], lines: list[str], after: list[str], depth: int
) -> None:
    numbered = "\n".join(f"{n:6}\u2192{line}" for n, line in enumerate([*before, *lines, *after], start=1))
    for _ in range(depth):
        numbered = json.dumps(numbered)
    assert in_sight("\n".join(lines), squashed(numbered))


def test_a_line_that_is_missing_is_not_in_sight() -> None:
    assert not in_sight(OLD, squashed("def add(a, b):\n    [... 20 characters cut ...]\n"))


@given(LINES, LINES, LINES)
def test_the_place_of_a_text_holds_its_lines(before: list[str], lines: list[str], after: list[str]) -> None:
    file = [*before, *lines, *after]
    text = "".join(f"{n:6}\u2192{line}\n" for n, line in enumerate(file, start=1))
    target = "\n".join(lines)
    if not squashed(target):
        return
    found = place(target, text)
    assert found
    assert in_sight(target, squashed(text[slice(*found)]))


def test_a_text_whose_lines_stand_apart_has_no_place() -> None:
    assert place("one\ntwo", "one\nthree\ntwo\n") is None
    assert place("one\n\ntwo", "   1\u2192one\n   2\u2192\n   3\u2192two\n") == (0, 24)
