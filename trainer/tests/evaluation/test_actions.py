import json
from typing import Any

import pytest

from data.families import tokenizer_of
from data.sessions import agent, session_of, user
from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.data.session import Session
from imprint_trainer.evaluation.actions import (
    MEASURES,
    Action,
    Actions,
    Call,
    compared,
    judged,
    next_actions,
    read_answer,
    spread,
    syntaxes,
)

FAMILIES = ["chatml", "qwen2_5", "qwen3", "llama3_1", "mistral", "gptoss"]


def call(name: str, **arguments: Any) -> tuple[str, str, str]:
    return name, json.dumps(arguments), "ok"


TALK = session_of(
    user("Fix it."),
    agent("I look.", call("read", path="a.py")),
    agent("I think."),
    user("Go on."),
    agent("", call("edit", path="a.py", new_string="x"), call("bash", command="pytest")),
    agent("", call("bash", command="pytest")),
    user("Thanks."),
    agent("Welcome."),
)


def sampled(session: Session, family: str, *, most: int = 50, max_length: int = 1024) -> Actions:
    tokenizer = tokenizer_of(family)
    windows = prepare_windows(session, tokenizer, max_length=max_length).windows
    return next_actions([(session.steps, windows)], tokenizer, most=most, seed=1)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_turn_with_a_call_is_an_action_whatever_the_template(family: str) -> None:
    found = sampled(TALK, family)
    assert found.unread == 0
    assert [one.expected.name for one in found.sampled] == ["read", "edit", "bash"]
    assert found.sampled[1].expected.arguments == {"path": "a.py", "new_string": "x"}
    assert [one.previous for one in found.sampled] == [
        None,
        Call("read", {"path": "a.py"}),
        Call("bash", {"command": "pytest"}),
    ]


def test_a_call_that_cannot_be_read_back_is_no_action() -> None:
    """DeepSeek's template leaves out the mark that opens calls in a turn of several without a text."""
    found = sampled(TALK, "deepseekv3")
    assert found.unread == 1
    assert [one.expected.name for one in found.sampled] == ["read", "bash"]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_prompt_ends_where_the_agent_begins_to_write(family: str) -> None:
    tokenizer = tokenizer_of(family)
    first = sampled(TALK, family).sampled[0]
    text = tokenizer.decode(first.prompt)
    assert "Fix it." in text
    assert "I look." not in text
    prompt = tokenizer.apply_chat_template([{"role": "user", "content": "Fix it."}], tokenize=False)
    assert text.startswith(prompt[:20])


@pytest.mark.parametrize("family", FAMILIES)
def test_the_recorded_answer_is_right_in_all_but_the_loop(family: str) -> None:
    tokenizer = tokenizer_of(family)
    windows = prepare_windows(TALK, tokenizer, max_length=1024).windows
    actions = {action.prompt: action for action in sampled(TALK, family).sampled}
    for window in windows:
        ends = [lesson.start for lesson in window.lessons[1:]] + [len(window.input_ids)]
        for lesson, end in zip(window.lessons, ends, strict=True):
            action = actions.get(window.input_ids[: lesson.start])
            if action is not None:
                answer = read_answer(window.input_ids[lesson.start : end], tokenizer, syntaxes(tokenizer))
                again = lesson.step == 5
                assert judged(action, answer) == {
                    **dict.fromkeys(MEASURES, True),
                    "loop": again,
                    "same_file": action.expected.name != "bash",
                }


@pytest.mark.parametrize(
    ("made", "right"),
    [
        (None, set()),
        (Call("edit", None), {"same_tool"}),
        (Call("edit", {"path": "/w/a.py", "new_string": "y"}), {"valid_call", "same_tool", "same_file"}),
        (Call("read", {"path": "a.py"}), {"valid_call", "same_file", "loop"}),
        (Call("edit", {"new_string": " x", "path": "./a.py"}), {*MEASURES} - {"loop"}),
    ],
)
def test_a_call_is_judged_by_tool_arguments_file_and_repetition(made: Call | None, right: set[str]) -> None:
    action = Action((), Call("edit", {"path": "a.py", "new_string": "x"}), Call("read", {"path": "a.py"}))
    assert {name for name, holds in judged(action, made).items() if holds} == right


def test_a_sample_is_spread_evenly_and_seeded() -> None:
    actions = [Action((number,), Call("x", {}), None) for number in range(103)]
    chosen = [action.prompt[0] for action in spread(actions, 10, seed=3)]
    assert len(set(chosen)) == 10
    assert {later - earlier for earlier, later in zip(chosen, chosen[1:], strict=False)} <= {10, 11}
    assert [action.prompt[0] for action in spread(actions, 10, seed=3)] == chosen
    assert [action.prompt[0] for action in spread(actions, 10, seed=5)] != chosen
    assert len(spread(actions[:4], 10, seed=3)) == 4
    for most in (1, 50, 102):
        assert len({action.prompt for action in spread(actions, most, seed=7)}) == most


def test_nothing_is_read_where_no_action_is_wanted() -> None:
    assert sampled(TALK, "qwen2_5", most=0) == Actions((), 0)


def test_base_and_adapter_are_compared_pair_by_pair() -> None:
    right, wrong = dict.fromkeys(MEASURES, True), dict.fromkeys(MEASURES, False)
    found = compared([wrong] * 6 + [right], [right] * 6 + [wrong])
    assert found is not None
    assert (found["sampled"], found["base"]["same_tool"], found["adapter"]["same_tool"]) == (7, 1, 6)
    assert found["p_values"]["same_tool"] == pytest.approx(2 * (1 + 7) / 2**7)
    assert compared([], []) is None
