import json

import pytest

from data.families import family, tokenizer_of
from data.sessions import agent, changes, reasons, said, session_of, shown, system, user
from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.errors import NothingToTrain

LOOK = ("bash", '{"command": "ls -la"}', "a.py\nb.py")
PATCH = ("patch", "*** Begin\n+x", "patched")


def test_calls_are_written_in_the_templates_own_syntax() -> None:
    tokenizer = tokenizer_of("qwen2_5")
    prepared = prepare_windows(
        session_of(user("Fix"), agent("I look.", LOOK), agent("Done.")), tokenizer, max_length=512
    )
    assert said(prepared, tokenizer) == [
        'I look.\n<tool_call>\n{"name": "bash", "arguments": {"command": "ls -la"}}\n</tool_call><|im_end|>',
        "Done.<|im_end|>",
    ]
    assert "<|im_start|>user\n<tool_response>\na.py\nb.py\n</tool_response><|im_end|>" in shown(prepared, tokenizer)[0]
    assert (reasons(prepared), changes(prepared)) == ({}, {})


@pytest.mark.parametrize("name", ["chatml", "llama3", "gemma"])
def test_a_template_without_tools_gets_calls_and_results_as_text(name: str) -> None:
    tokenizer, end = tokenizer_of(name), family(name).end
    prepared = prepare_windows(
        session_of(user("Fix"), agent("I look.", LOOK), agent("Done.")), tokenizer, max_length=512
    )
    assert said(prepared, tokenizer) == [
        'I look.\n<tool_call>\n{"name": "bash", "arguments": {"command": "ls -la"}}\n</tool_call>' + end,
        "Done." + end,
    ]
    assert "<tool_response>\na.py\nb.py\n</tool_response>" in shown(prepared, tokenizer)[0]
    assert changes(prepared) == {"tool_syntax_as_text": 1}


@pytest.mark.parametrize("name", ["chatml", "qwen2_5", "qwen3"])
def test_free_text_arguments_become_a_json_string(name: str) -> None:
    tokenizer = tokenizer_of(name)
    (words,) = said(prepare_windows(session_of(user("Fix"), agent("", PATCH)), tokenizer, max_length=512), tokenizer)
    block = words.removeprefix("<tool_call>\n").removesuffix("\n</tool_call><|im_end|>")
    assert json.loads(block) == {"name": "patch", "arguments": "*** Begin\n+x"}


def test_several_calls_of_a_turn_stay_together_where_the_template_takes_them() -> None:
    tokenizer = tokenizer_of("qwen2_5")
    prepared = prepare_windows(
        session_of(user("Fix"), agent("", LOOK, PATCH), agent("Done.")), tokenizer, max_length=512
    )
    first, _ = said(prepared, tokenizer)
    assert first.count("<tool_call>") == 2
    assert prepared.supervised_turns == 2


def test_several_calls_of_a_turn_become_turns_where_the_template_takes_one() -> None:
    tokenizer = tokenizer_of("llama3_1")
    prepared = prepare_windows(
        session_of(user("Fix"), agent("", LOOK, PATCH), agent("Done.")), tokenizer, max_length=512
    )
    assert said(prepared, tokenizer) == [
        '{"name": "bash", "parameters": {"command": "ls -la"}}<|eot_id|>',
        '{"name": "patch", "parameters": "*** Begin\\n+x"}<|eot_id|>',
        "Done.<|eot_id|>",
    ]
    (window,) = shown(prepared, tokenizer)
    assert window.index("a.py") < window.index('"patch"') < window.index("patched")


def test_words_beside_a_call_are_kept_where_the_template_would_lose_them() -> None:
    tokenizer = tokenizer_of("llama3_1")
    prepared = prepare_windows(session_of(user("Fix"), agent("I look.", LOOK)), tokenizer, max_length=512)
    assert said(prepared, tokenizer)[0].startswith("I look.\n<tool_call>")
    assert changes(prepared) == {"tool_syntax_as_text": 1}


def test_mistral_gets_native_calls_with_ids_of_nine_characters() -> None:
    tokenizer = tokenizer_of("mistral")
    prepared = prepare_windows(session_of(user("Fix"), agent("", LOOK), agent("Done.")), tokenizer, max_length=512)
    assert said(prepared, tokenizer) == [
        '[TOOL_CALLS][{"name": "bash", "arguments": {"command": "ls -la"}, "id": "000000001"}]</s>',
        "Done.</s>",
    ]


def test_calls_become_text_where_the_order_of_turns_does_not_suit_the_template() -> None:
    tokenizer = tokenizer_of("mistral")
    talk = (user("Fix"), agent("", LOOK), user("Stop, first the tests"), agent("Done."))
    prepared = prepare_windows(session_of(*talk), tokenizer, max_length=512)
    assert changes(prepared) == {"tool_syntax_as_text": 1}
    assert "</tool_response>\n\nStop, first the tests[/INST]Done.</s>" in shown(prepared, tokenizer)[-1]


def test_what_the_environment_said_without_a_call_is_a_user_turn() -> None:
    tokenizer = tokenizer_of("chatml")
    step = {"source": "agent", "text": "```bash\nls\n```", "observations": [{"call_id": None, "content": "a.py"}]}
    prepared = prepare_windows(session_of(user("Fix"), step, agent("Done.")), tokenizer, max_length=512)
    assert "```<|im_end|>\n<|im_start|>user\na.py<|im_end|>\n<|im_start|>assistant\n" in shown(prepared, tokenizer)[0]


def test_a_result_without_its_call_is_a_user_turn() -> None:
    step = agent("I look.", LOOK)
    step["observations"].append({"call_id": "lost", "content": "stray"})
    prepared = prepare_windows(session_of(user("Fix"), step, agent("Done.")), tokenizer_of("qwen2_5"), max_length=512)
    assert "<|im_start|>user\nstray<|im_end|>" in shown(prepared, tokenizer_of("qwen2_5"))[0]


def test_a_call_without_a_result_is_kept() -> None:
    step = agent("I look.", LOOK) | {"observations": []}
    prepared = prepare_windows(session_of(user("Fix"), step, agent("Done.")), tokenizer_of("qwen2_5"), max_length=512)
    assert prepared.supervised_turns == 2


@pytest.mark.parametrize("name", ["gemma", "mistral"])
def test_turns_of_one_side_in_a_row_are_put_in_alternation(name: str) -> None:
    tokenizer, end = tokenizer_of(name), family(name).end
    talk = (user("Fix"), user("the bug"), agent("I look."), agent("Done."))
    prepared = prepare_windows(session_of(*talk), tokenizer, max_length=512)
    assert said(prepared, tokenizer) == ["I look." + end, "Done." + end]
    assert "Fix\n\nthe bug" in shown(prepared, tokenizer)[0]
    assert "Continue." in shown(prepared, tokenizer)[-1]


def test_a_system_step_in_the_middle_is_a_user_turn() -> None:
    talk = (system("Be brief."), user("Fix"), agent("I look."), system("Mind the tests."), agent("Done."))
    (window,) = shown(
        prepare_windows(session_of(*talk), tokenizer_of("chatml"), max_length=512), tokenizer_of("chatml")
    )
    assert window.startswith("<|im_start|>system\nBe brief.<|im_end|>")
    assert "<|im_start|>user\nMind the tests.<|im_end|>" in window


def test_without_a_user_turn_the_system_text_is_the_task() -> None:
    prepared = prepare_windows(session_of(system("Fix it."), agent("Done.")), tokenizer_of("gemma"), max_length=512)
    assert shown(prepared, tokenizer_of("gemma"))[0].endswith(
        "<start_of_turn>user\nFix it.<end_of_turn>\n<start_of_turn>model\nDone.<end_of_turn>"
    )


def test_turns_before_the_task_are_left_out_and_counted() -> None:
    talk = (agent("Hello!"), user("Fix"), agent("Done."))
    prepared = prepare_windows(session_of(*talk), tokenizer_of("chatml"), max_length=512)
    assert said(prepared, tokenizer_of("chatml")) == ["Done.<|im_end|>"]
    assert reasons(prepared) == {"before_task": 1}


def test_answers_without_any_task_are_refused() -> None:
    with pytest.raises(NothingToTrain, match="no user turn"):
        prepare_windows(session_of(agent("Done.")), tokenizer_of("chatml"), max_length=512)


def test_an_empty_turn_is_left_out_and_counted() -> None:
    prepared = prepare_windows(
        session_of(user("Fix"), agent(" "), agent("Done.")), tokenizer_of("chatml"), max_length=512
    )
    assert said(prepared, tokenizer_of("chatml")) == ["Done.<|im_end|>"]
    assert reasons(prepared) == {"empty_turn": 1}
