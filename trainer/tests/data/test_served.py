"""What an engine is given is what a training on the same conversation has before the answer, token for token."""

from typing import Any

import pytest

from data.families import tokenizer_of
from data.sessions import agent, session_of, shown, system, user
from imprint_trainer.data.prepare import prepare_windows, started
from imprint_trainer.data.render import rendered_conversation
from imprint_trainer.data.session import Session
from imprint_trainer.data.templates import tool_prompt

TOOLS = [
    {
        "name": "bash",
        "description": "Runs `ls` or <tool_call>é.",
        "parameters": {"type": "object", "properties": {"n": {}}},
    },
    {"name": "apply_patch"},
]
LOOK = ("bash", '{"command":"ls -la","n":1.5}', "a.py\n<|im_end|>")
PATCH = ("apply_patch", "*** Begin\n+x", "")
SAID_BESIDE = (agent("I look.", LOOK), agent("Both.", PATCH, LOOK), agent("Done."))
CALLED_ALONE = (agent("", LOOK), agent("", PATCH, LOOK), agent("Done."))
GROWING = ["chatml", "qwen2_5", "qwen3_instruct_2507", "llama3", "llama3_1", "gemma", "gemma3", "phi3"]
FAMILIES = [*GROWING, "qwen3", "mistral"]  # these two write answers differently once something follows


def prompts_of(session: Session, name: str) -> list[tuple[int, ...]]:
    """What windows have before each answer that they supervise."""
    prepared = prepare_windows(session, tokenizer_of(name), max_length=4096)
    return [window.input_ids[: answer.start] for window in prepared.windows for answer in window.answers]


def served(session: Session, name: str, count: int) -> tuple[int, ...]:
    """What an engine is given after the first `count` steps."""
    steps, date = session.steps[:count], started(session)
    return rendered_conversation(steps, session.tools, tokenizer_of(name), date=date)


@pytest.mark.parametrize("turns", [SAID_BESIDE, CALLED_ALONE], ids=["beside", "alone"])
@pytest.mark.parametrize("opening", [(), (system("Be brief."),)], ids=["", "system"])
@pytest.mark.parametrize("tools", [[], TOOLS], ids=["", "tools"])
@pytest.mark.parametrize("name", FAMILIES)
def test_an_answer_stands_after_what_the_engine_is_given(
    name: str, tools: list[Any], opening: tuple[Any, ...], turns: tuple[Any, ...]
) -> None:
    steps = [*opening, user("Fix add"), *turns]
    for count in range(1 + len(opening), len(steps)):
        earlier = [step | {"context_only": "failed"} if step["source"] == "agent" else step for step in steps[:count]]
        session = session_of(*earlier, steps[count], tools=tools)
        assert prompts_of(session, name)[0] == served(session, name, count)


@pytest.mark.parametrize("turns", [SAID_BESIDE, CALLED_ALONE], ids=["beside", "alone"])
@pytest.mark.parametrize("name", [name for name in GROWING if name != "llama3_1"])
def test_all_answers_of_a_recording_stand_in_it_after_what_the_engine_was_given(
    name: str, turns: tuple[Any, ...]
) -> None:
    session = session_of(user("Fix add"), *turns, tools=TOOLS)
    assert prompts_of(session, name) == [served(session, name, count) for count in (1, 2, 3)]


def test_a_call_beside_words_is_text_where_the_template_has_no_place_for_both() -> None:
    """Llama 3.1: the history is written as a training writes the session up to there."""
    tokenizer = tokenizer_of("llama3_1")
    session = session_of(user("Fix add"), *SAID_BESIDE, tools=TOOLS)
    first, second = (tokenizer.decode(list(served(session, "llama3_1", count))) for count in (1, 2))
    assert "<tool_call>" not in first.partition("Fix add")[2]
    assert 'I look.\n<tool_call>\n{"name": "bash"' in second


def test_tools_stand_behind_the_system_text_of_a_template_that_lists_none() -> None:
    tools = [{"type": "function", "function": {"name": "bash", "description": "", "parameters": {"type": "object"}}}]
    session = session_of(
        system("Be brief."), user("Fix"), agent("Done."), tools=[{"name": "bash", "parameters": {"type": "object"}}]
    )
    (text,) = shown(prepare_windows(session, tokenizer_of("chatml"), max_length=1024), tokenizer_of("chatml"))
    assert text.startswith(f"<|im_start|>system\nBe brief.\n\n{tool_prompt(tools)}<|im_end|>\n<|im_start|>user\nFix")
    (text,) = shown(prepare_windows(session, tokenizer_of("gemma"), max_length=1024), tokenizer_of("gemma"))
    assert f"<start_of_turn>user\n{tool_prompt(tools)}\n\nBe brief.\n\nFix<end_of_turn>" in text


def test_the_generic_prompt_is_what_qwens_template_writes() -> None:
    session = session_of(system("Be brief."), user("Fix"), agent("Done."), tools=TOOLS[:1])
    (own,) = shown(prepare_windows(session, tokenizer_of("qwen2_5"), max_length=1024), tokenizer_of("qwen2_5"))
    (generic,) = shown(prepare_windows(session, tokenizer_of("chatml"), max_length=1024), tokenizer_of("chatml"))
    assert generic == own


def test_a_tool_without_description_and_parameters_is_its_name() -> None:
    function = {"name": "bash", "description": "", "parameters": {"type": "object", "properties": {}}}
    prompt = tool_prompt([{"type": "function", "function": function}])
    assert '<tools>\n{"type": "function", "function": {"name": "bash"}}\n</tools>' in prompt


def test_what_an_assistant_says_before_the_first_request_is_kept() -> None:
    session = session_of(system("Be brief."), agent("Hello!"), user("Fix"))
    text = tokenizer_of("chatml").decode(list(served(session, "chatml", 3)))
    assert "assistant\nHello!<|im_end|>\n<|im_start|>user\nFix<|im_end|>\n<|im_start|>assistant\n" in text
    assert text.startswith("<|im_start|>system\nBe brief.<|im_end|>")
