import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.sessions import session_of
from doc_to_lora.document import document_of_tokens, session_document, shorten
from imprint_trainer.data.session import Session
from imprint_trainer.errors import NothingToTrain
from imprint_trainer.imprint.entries import entries_of


def session(*steps: dict[str, Any], outcome: str = "unknown", signal: str | None = None) -> Session:
    return session_of(*steps, session_id="s-1", outcome=outcome, outcome_signal=signal)


def user(text: str) -> dict[str, Any]:
    return {"source": "user", "text": text}


def agent(text: str = "", **more: Any) -> dict[str, Any]:
    return {"source": "agent", "text": text, **more}


def call(name: str, arguments: object, number: int = 1) -> dict[str, Any]:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": f"c{number}", "name": name, "arguments": written}


def document_text(recorded: Session, max_characters: int = 14_000) -> str:
    return session_document(recorded, max_characters).text


def test_a_session_reads_as_task_decisions_commands_and_results() -> None:
    recorded = session(
        {"source": "system", "text": "You are an agent."},
        user("Make the port 7413.\n"),
        agent(
            "I will edit the settings.",
            reasoning="hm",
            tool_calls=[call("Edit", {"file_path": "gates.py"}), call("Bash", {"command": "pytest -q"}, 2)],
            observations=[
                {"call_id": "c1", "content": ""},
                {"call_id": "c2", "content": "....\n4 passed in 0.02s\n\n"},
            ],
        ),
        user("Thanks. Also the docs."),
        agent("Done."),
        outcome="success",
        signal="tests_passed",
    )
    assert document_text(recorded) == "\n".join(
        [
            "Task: Make the port 7413.",
            "Decision: I will edit the settings.",
            "Command: Edit gates.py",
            "Command: pytest -q",
            "Result: ....\n4 passed in 0.02s",
            "Request: Thanks. Also the docs.",
            "Decision: Done.",
            "Outcome: tests_passed",
        ]
    )


def test_results_of_errors_and_of_steps_without_a_call_are_told_apart() -> None:
    recorded = session(
        agent("```python\nx```", observations=[{"call_id": None, "content": "boom\n1 failed", "is_error": True}])
    )
    assert document_text(recorded).endswith("Failed: boom\n1 failed")


@pytest.mark.parametrize("reason", ["failed", "aborted", "synthetic"])
def test_steps_that_went_wrong_are_left_out(reason: str) -> None:
    recorded = session(user("Do it."), agent("rm -rf", context_only=reason), agent("Good way."))
    assert document_text(recorded) == "Task: Do it.\nDecision: Good way."


@pytest.mark.parametrize("outcome", ["failure", "unknown"])
def test_an_outcome_is_claimed_only_for_a_success(outcome: str) -> None:
    assert "Outcome" not in document_text(session(user("Do it."), outcome=outcome, signal="x"))


@pytest.mark.parametrize(
    ("name", "arguments", "line"),
    [
        ("shell", {"command": ["bash", "-lc", "ls"]}, "bash -lc ls"),
        ("exec_command", {"cmd": "ls -l", "workdir": "/x"}, "ls -l"),
        ("apply_patch", "*** Begin Patch\n", "apply_patch *** Begin Patch"),
        ("read", {"path": "a.py", "offset": 3}, 'read a.py {"offset": 3}'),
        ("write_file", {"filename": "a.py", "text": "x = 1"}, "write_file a.py x = 1"),
        ("submit", {}, "submit"),
        ("think", "[1]", "think [1]"),
    ],
)
def test_a_call_is_one_readable_line(name: str, arguments: object, line: str) -> None:
    recorded = session(agent(tool_calls=[call(name, arguments)]))
    assert document_text(recorded) == f"Command: {line}"


def test_a_session_that_says_nothing_is_refused() -> None:
    with pytest.raises(NothingToTrain, match="s-1"):
        document_text(session({"source": "system", "text": "You are."}, agent("  ")))


def test_long_entries_are_shortened_before_any_is_left_out() -> None:
    steps = [user("Task " * 40), *(agent(f"begin {i} " + "x" * 2000 + f" end {i}") for i in range(5))]
    text = document_text(session(*steps), max_characters=3000)
    assert all(f"begin {i}" in text and f"end {i}" in text for i in range(5))
    assert len(text) <= 3000
    assert "left out" not in text


def test_when_all_is_too_much_the_task_and_the_latest_steps_stay() -> None:
    text = document_text(session(user("The task."), *(agent(f"step {i}") for i in range(500))), max_characters=400)
    assert text.startswith("Task: The task.\n[")
    assert text.endswith("step 499")
    left_out = int(text.split("[")[1].split()[0])
    assert left_out + text.count("Decision:") == 500


@settings(max_examples=100)
@given(
    texts=st.lists(st.tuples(st.booleans(), st.text(min_size=1, max_size=300)), min_size=1, max_size=30),
    limit=st.integers(200, 2000),
)
def test_the_size_is_kept_and_the_text_is_the_same_every_time(texts: list[tuple[bool, str]], limit: int) -> None:
    recorded = session(user("Task."), *((user if asks else agent)(text) for asks, text in texts))
    text = document_text(recorded, max_characters=limit)
    assert len(text) <= limit
    assert text == document_text(recorded, max_characters=limit)
    assert text.startswith("Task: Task.")


step_lists = st.lists(
    st.one_of(
        st.text(min_size=1, max_size=200).map(user),
        st.text(min_size=1, max_size=200).map(agent),
        st.tuples(st.text(max_size=100), st.text(max_size=900), st.sampled_from([None, False, True])).map(
            lambda parts: agent(
                tool_calls=[call("Bash", {"command": parts[0]})],
                observations=[{"call_id": "c1", "content": parts[1], "is_error": parts[2]}],
            )
        ),
    ),
    min_size=1,
    max_size=20,
)


@settings(max_examples=100)
@given(steps=step_lists, limit=st.integers(300, 3000))
def test_what_fits_is_read_whole_and_every_cut_is_marked(steps: list[dict[str, Any]], limit: int) -> None:
    recorded = session(user("Task."), *steps)
    entries = entries_of(recorded)
    whole = "\n".join(f"{entry.label}: {entry.text}" for entry in entries)
    document = session_document(recorded, max_characters=limit)
    kept, all_of_them = (sum(getattr(one, name) for one in document.read) for name in ("characters_read", "characters"))
    assert all_of_them == sum(len(entry.text) for entry in entries)
    if len(whole) <= limit:
        assert (document.text, kept) == (whole, all_of_them)
    else:
        assert len(document.text) <= limit
        assert kept < all_of_them
        assert " [...] " in document.text or "entries left out]" in document.text


@settings(max_examples=200)
@given(steps=step_lists, limit=st.integers(0, 120))
def test_a_budget_that_hardly_holds_a_mark_is_kept_too(steps: list[dict[str, Any]], limit: int) -> None:
    recorded = session(user("Task."), *steps)
    document = session_document(recorded, max_characters=limit)
    assert len(document.text) <= limit
    assert sum(one.characters_read for one in document.read) <= limit
    assert document == session_document(recorded, max_characters=limit)


@pytest.mark.parametrize(("limit", "text"), [(0, ""), (1, "["), (12, "Task:  [...\n"), (20, "Task: The [...]  it\n")])
def test_where_no_entry_fits_the_first_one_s_ends_are_read(limit: int, text: str) -> None:
    recorded = session(user("The task is it"), *(agent("x" * 200) for _ in range(5)))
    assert document_text(recorded, max_characters=limit) == text


@settings(max_examples=100)
@given(steps=step_lists, most=st.integers(0, 800))
def test_a_budget_in_tokens_is_kept_and_mostly_used(steps: list[dict[str, Any]], most: int) -> None:
    recorded = session(user("Task."), *steps)

    def count(text: str) -> int:
        return 3 + len(text) // 3  # as a template and a tokenizer would

    whole = document_text(recorded, max_characters=10**6)
    text = document_of_tokens(recorded, most, count).text
    if count(whole) <= most:
        assert text == whole
    else:
        assert count(text) <= max(most, 3)
        assert count(text) > 0.6 * most or most < 150


@settings(max_examples=100)
@given(sizes=st.lists(st.integers(1, 400), min_size=1, max_size=30), limit=st.integers(300, 3000))
def test_the_session_s_order_is_kept(sizes: list[int], limit: int) -> None:
    recorded = session(
        user("Task."), *((agent, user)[index % 2](f"<{index}>" + "x" * size) for index, size in enumerate(sizes))
    )
    found = [int(number) for number in re.findall(r"<(\d+)>", document_text(recorded, max_characters=limit))]
    assert found == sorted(found)


def test_what_was_said_comes_before_commands_then_errors_then_other_output() -> None:
    said, ran, failed, printed = (name * 150 for name in "abcd")
    recorded = session(
        user("Do it."),
        agent(
            said,
            tool_calls=[call("Bash", {"command": ran}), call("Bash", {"command": "ls"}, 2)],
            observations=[
                {"call_id": "c1", "content": failed, "is_error": True},
                {"call_id": "c2", "content": printed * 40},
            ],
        ),
    )
    texts = [document_text(recorded, max_characters=most) for most in (210, 400, 590)]
    assert [[text in read for text in (said, ran, failed)] for read in texts] == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]
    read = {
        one.kind: one.characters_read / one.characters for one in session_document(recorded, max_characters=2000).read
    }
    assert read["user"] == read["agent"] == read["commands"] == read["errors"] == 1
    assert 0.1 < read["results"] < 0.3


def test_errors_that_a_tool_does_not_flag_are_told_by_their_words() -> None:
    recorded = session(
        agent(
            tool_calls=[call("Bash", {"command": "x"}, n) for n in (1, 2)],
            observations=[
                {"call_id": "c1", "content": "Traceback (most recent call last):\n  x\nKeyError: 1"},
                {"call_id": "c2", "content": "0 errors"},
            ],
        )
    )
    assert [entry.kind for entry in entries_of(recorded)] == ["commands", "errors", "commands", "results"]


def test_reasoning_and_steps_that_went_wrong_count_as_not_read() -> None:
    recorded = session(user("Do it."), agent("bad", context_only="failed"), agent("Good.", reasoning="Hmm, yes."))
    assert {one.kind: (one.characters, one.characters_read) for one in session_document(recorded, 14_000).read} == {
        "user": (6, 6),
        "agent": (5, 5),
        "reasoning": (9, 0),
        "steps left out": (3, 0),
    }


@given(text=st.text(max_size=300), length=st.integers(0, 300))
def test_a_shortened_text_keeps_both_ends(text: str, length: int) -> None:
    short = shorten(text, length)
    assert len(short) <= length
    if len(text) <= length:
        assert short == text
    elif length > 20:
        assert text.startswith(short.split(" [...] ")[0][:5])
        assert text.endswith(short[-3:])
