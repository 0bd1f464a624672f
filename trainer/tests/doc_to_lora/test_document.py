import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.sessions import session_of
from imprint_trainer.data.session import Session
from imprint_trainer.doc_to_lora.document import document_text, shorten
from imprint_trainer.errors import NothingToTrain


def session(*steps: dict[str, Any], outcome: str = "unknown", signal: str | None = None) -> Session:
    return session_of(*steps, session_id="s-1", outcome=outcome, outcome_signal=signal)


def user(text: str) -> dict[str, Any]:
    return {"source": "user", "text": text}


def agent(text: str = "", **more: Any) -> dict[str, Any]:
    return {"source": "agent", "text": text, **more}


def call(name: str, arguments: object, number: int = 1) -> dict[str, Any]:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": f"c{number}", "name": name, "arguments": written}


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
            "Result: 4 passed in 0.02s",
            "Request: Thanks. Also the docs.",
            "Decision: Done.",
            "Outcome: tests_passed",
        ]
    )


def test_results_of_errors_and_of_steps_without_a_call_are_told_apart() -> None:
    recorded = session(
        agent("```python\nx```", observations=[{"call_id": None, "content": "boom\n1 failed", "is_error": True}])
    )
    assert document_text(recorded).endswith("Failed: 1 failed")


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


@settings(max_examples=100, deadline=None)
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


@given(text=st.text(max_size=300), length=st.integers(0, 300))
def test_a_shortened_text_keeps_both_ends(text: str, length: int) -> None:
    short = shorten(text, length)
    assert len(short) <= length
    if len(text) <= length:
        assert short == text
    elif length > 20:
        assert text.startswith(short.split(" [...] ")[0][:5])
        assert text.endswith(short[-3:])
