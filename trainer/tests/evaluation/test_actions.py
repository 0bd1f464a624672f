import json
from typing import Any

import pytest

from data.families import CHATML_DEFAULT_SYSTEM, tokenizer_of, tokenizer_with
from data.sessions import agent, session_of, user
from data.sessions import answers as answers_of
from imprint_trainer.data.calls import Call, read_calls
from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.data.session import Session
from imprint_trainer.evaluation.actions import (
    MEASURES,
    Action,
    Actions,
    files_of,
    format_of,
    judged,
    next_actions,
    read_answer,
    same_arguments,
    same_call,
    same_files,
    spread,
)
from imprint_trainer.evaluation.verdict import compared


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": [1, "x"]}, {"b": [1, "x"], "a": 1}, True),
        ({"command": "ls  -la\n"}, {"command": "ls -la"}, True),
        ({"command": "ls -la"}, {"command": "ls -l"}, False),
        ({"limit": 5}, {"limit": "5"}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": [1]}, {"a": [1, 2]}, False),
        ({"a": {}}, {"a": "{}"}, False),
        ({"path": "/home/me/repo/src/a.py"}, {"path": "src/a.py"}, True),
        ({"path": "./src/a.py"}, {"path": "src/a.py"}, True),
        ({"file_path": "C:\\repo\\a.py"}, {"file_path": "a.py"}, True),
        ({"path": "lib/src/a.py"}, {"path": "src/a.py"}, False),
        ({"path": "/one/a.py"}, {"path": "/two/a.py"}, False),
        ({"path": "/x/ba.py"}, {"path": "a.py"}, False),
        ({"command": "/bin/ls"}, {"command": "ls"}, False),
        ("a  patch", "a patch", True),
    ],
)
def test_arguments_are_compared_after_normalising(one: object, other: object, same: bool) -> None:
    assert same_arguments(one, other) is same
    assert same_arguments(other, one) is same


def test_files_are_those_of_path_arguments_and_of_patches() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n*** End Patch"
    assert files_of(Call("apply_patch", {"input": patch})) == files_of(Call("apply_patch", patch)) == ["a.py", "b.py"]
    read = Call("read", {"file_path": "/repo/src/a.py", "limit": 5})
    assert same_files(read, Call("edit", {"path": "src/a.py", "old_string": "x"}))
    assert not same_files(read, Call("bash", {"command": "cat src/a.py"}))
    assert not same_files(Call("bash", {"command": "ls"}), Call("bash", {"command": "ls"}))


def test_a_call_that_was_cut_off_is_like_no_other() -> None:
    assert not same_call(Call("bash", None), Call("bash", None))
    assert same_call(Call("bash", json.loads('{"command": "ls"}')), Call("bash", {"command": "ls "}))
    assert not same_files(Call("read", None), Call("read", {"path": "a.py"}))


CALLING = ["chatml", "qwen2_5", "qwen3", "llama3", "llama3_1", "mistral", "gemma", "gptoss", "deepseekv3"]
ARGUMENTS = {"path": "src/é.py", "new_string": 'a "b"\n\t<tool_call>', "nested": {"deep": [1, None]}}

# Qwen3-Coder writes arguments between tags.
TAGGED = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content }}{% for c in m.tool_calls or [] %}"
    "{{ '\n<tool_call>\n<function=' + c.function.name + '>\n' }}{% for k, v in c.function.arguments.items() %}"
    "{{ '<parameter=' + k + '>\n' + (v if v is string else v | tojson) + '\n</parameter>\n' }}{% endfor %}"
    "{{ '</function>\n</tool_call>' }}{% endfor %}{{ '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


@pytest.mark.parametrize("family", CALLING)
@pytest.mark.parametrize("text", ["", "I edit the file."])
def test_a_recorded_call_is_read_back_from_how_the_template_writes_it(family: str, text: str) -> None:
    tokenizer = tokenizer_of(family)
    session = session_of(user("Fix it."), agent(text, ("edit.file", json.dumps(ARGUMENTS), "ok")))
    (answer,) = answers_of(prepare_windows(session, tokenizer, max_length=1024), tokenizer)
    assert read_calls(answer, format_of(tokenizer)) == [Call("edit.file", ARGUMENTS)]
    assert read_calls(answer[: answer.index("nested")], format_of(tokenizer)) == [Call("edit.file", None)]


def test_arguments_between_tags_are_read_back() -> None:
    tokenizer = tokenizer_with(TAGGED, ("<|im_start|>", "<|im_end|>"))
    session = session_of(user("Fix it."), agent("I do.", ("edit", json.dumps({"path": "a.py", "new": "x\ny"}), "ok")))
    (answer,) = answers_of(prepare_windows(session, tokenizer, max_length=1024), tokenizer)
    assert "<parameter=path>" in answer
    assert read_calls(answer, format_of(tokenizer)) == [Call("edit", {"path": "a.py", "new": "x\ny"})]
    assert read_calls(answer[: answer.index("</function>")], format_of(tokenizer)) == [Call("edit", None)]


@pytest.mark.parametrize("family", CALLING)
def test_an_answer_without_a_call_has_none(family: str) -> None:
    form = format_of(tokenizer_of(family))
    assert read_calls('I would call {"tool": 1} but do not.', form) == read_calls("", form) == []


def test_the_fallback_is_read_whatever_the_template_writes() -> None:
    text = '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>'
    for family in ("llama3", "mistral", "gptoss"):
        assert read_calls(text, format_of(tokenizer_of(family))) == [Call("bash", {"command": "ls"})]


def test_arguments_that_are_no_object_are_no_call() -> None:
    text = '<tool_call>\n{"name": "bash", "arguments": 5}\n</tool_call>'
    assert read_calls(text, format_of(tokenizer_of("qwen2_5"))) == [Call("bash", None)]


FAMILIES = ["chatml", "qwen2_5", "qwen3", "llama3_1", "mistral", "gptoss", "deepseekv3"]


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
    return next_actions([(session, windows)], tokenizer, most=most, seed=1)


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
    made = "{{ c.function.arguments.values() | join + c.function.name }}"
    called = "{% for c in message.tool_calls or [] %}" + made + "{% endfor %}"
    source = CHATML_DEFAULT_SYSTEM.replace(
        "message.content + '<|im_end|>\n' }}", "message.content }}" + called + "{{ '<|im_end|>\n' }}"
    )
    tokenizer = tokenizer_with(source, ("<|im_start|>", "<|im_end|>"))
    windows = prepare_windows(TALK, tokenizer, max_length=1024).windows
    assert next_actions([(TALK, windows)], tokenizer, most=50, seed=1) == Actions((), 3)


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
        for step, start, end in window.answer_spans:
            action = actions.get(window.input_ids[:start])
            if action is not None:
                answer = read_answer(window.input_ids[start:end], tokenizer, format_of(tokenizer), {})
                again = step == 5
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
    action = Action((), Call("edit", {"path": "a.py", "new_string": "x"}), Call("read", {"path": "a.py"}), {})
    assert {name for name, holds in judged(action, made).items() if holds} == right


def test_a_sample_is_spread_evenly_and_seeded() -> None:
    actions = [Action((number,), Call("x", {}), None, {}) for number in range(103)]
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
