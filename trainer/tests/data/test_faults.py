import json

import pytest

from data.families import tokenizer_of
from data.faults import faults
from data.sessions import agent, session_of, user
from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.data.windows import Answer, Window

EDIT = ("Edit", json.dumps({"old_string": "a = 1", "new_string": "a = 2"}), "ok")
TALK = (
    user("Build a timer"),
    agent("", ("Read", "{}", "a = 1")),
    user("Add a Pause button"),
    agent("I add <SECRET:password> to it.", EDIT),
    agent("Done."),
)


def window_of(text: str, answer: str, step: int) -> Window:
    """A window that teaches `answer` after `text`, whatever the session says."""
    tokenizer = tokenizer_of("chatml")
    before, after = (tokenizer(part, add_special_tokens=False)["input_ids"] for part in (text, answer))
    mask = (False,) * len(before) + (True,) * len(after)
    return Window((*before, *after), mask, (Answer(step, len(before)),))


def test_the_windows_of_a_session_have_no_faults() -> None:
    session = session_of(*TALK)
    prepared = prepare_windows(session, tokenizer_of("chatml"), max_length=512)
    assert list(faults(session, prepared.windows, tokenizer_of("chatml"))) == []


CALL = f'<tool_call>\n{{"name": "Edit", "arguments": {EDIT[1]}}}\n</tool_call>'


@pytest.mark.parametrize(
    ("windows", "expected"),
    [
        ([window_of("Build a timer", "Done.", 4)], [("without_request", 4)]),
        ([window_of("Add a Pause button", "Done.", 4)], []),
        ([window_of("Add a Pause button a = 1", "I add <SECRET:password>", 3)], [("secret_supervised", 3)]),
        ([window_of("Add a Pause button", CALL, 3)], [("edit_target_cut", 3)]),
        ([window_of("Add a Pause button a = 1", CALL, 3)], []),
        (
            [window_of("Add a Pause button", "Done.", 4), window_of("Add a Pause button", "No.", 4)],
            [("same_prompt", 4)],
        ),
        ([window_of("Add a Pause button", "Done.", 4)] * 2, []),
    ],
)
def test_each_fault_is_found_by_its_name(windows: list[Window], expected: list[tuple[str, int]]) -> None:
    assert list(faults(session_of(*TALK), windows, tokenizer_of("chatml"))) == expected
