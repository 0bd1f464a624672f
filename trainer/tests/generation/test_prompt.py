"""A chat is given what a training on its recording has before the answer: the same fixture is imported by the tests of
`packages/sessions`."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from data.families import family, tokenizer_of
from data.sessions import session_of
from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.generation.prompt import prompt_of
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.protocol import ChatSpec

FIXTURE = Path(__file__).parents[1] / "fixtures" / "conversation-with-tools.json"


def chat_message(message: dict[str, Any]) -> dict[str, Any]:
    return {
        "role": message["role"],
        "content": message["content"] or "",
        "tool_calls": [{"id": call["id"], **call["function"]} for call in message.get("tool_calls", ())],
        "tool_call_id": message.get("tool_call_id"),
    }


def chat_tool(tool: dict[str, Any]) -> dict[str, Any]:
    function = tool["function"]
    return {key: function.get(key) for key in ("name", "description", "parameters")}


def spec_of(messages: list[dict[str, Any]], **changes: Any) -> ChatSpec:
    fields = {
        "base_model": "tiny",
        "adapter_path": None,
        "messages": messages,
        "tools": [],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "json_schema": None,
        "max_tokens": 0,
        "temperature": 0,
        "top_p": 1,
        "top_k": 0,
        "min_p": 0,
        "enable_thinking": None,
        "stop": [],
        "seed": 0,
        "stream": False,
    }
    return ChatSpec.model_validate(fields | changes)


@pytest.mark.parametrize("name", ["chatml", "qwen2_5", "gemma"])
def test_a_recorded_conversation_is_trained_as_it_was_served(base: LoadedBase, name: str) -> None:
    fixture = json.loads(FIXTURE.read_text(encoding="utf-8"))
    base = replace(base, tokenizer=tokenizer_of(name), memo={})
    session = session_of(*fixture["steps"], tools=fixture["tools"])
    (window,) = prepare_windows(session, base.tokenizer, max_length=4096).windows
    messages = fixture["conversation"]["messages"]
    turns = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
    prompts = []
    for index in turns:
        asked = [chat_message(message) for message in messages[:index]]
        spec = spec_of(asked, tools=[chat_tool(tool) for tool in fixture["conversation"]["tools"]])
        prompts.append(prompt_of(spec, base).ids)
    assert prompts == [window.input_ids[: answer.start] for answer in window.answers]
    assert base.tokenizer.decode(list(window.input_ids)).endswith(f"The tests pass.{family(name).end}")


@pytest.mark.parametrize(
    ("name", "with_tools", "without"),
    [("qwen2_5", "hermes", None), ("deepseekv3", "deepseek-v3", None), ("chatml", "generic", None)]
    + [("gptoss", "harmony", "harmony")],
)
def test_an_engine_is_told_how_an_answer_holds_calls_and_thoughts(
    base: LoadedBase, name: str, with_tools: str, without: str | None
) -> None:
    base = replace(base, tokenizer=tokenizer_of(name), memo={})
    asked = [chat_message({"role": "user", "content": "Hello."})]
    tool = {"name": "ls", "description": None, "parameters": None}
    assert prompt_of(spec_of(asked, tools=[tool]), base).tool_format == with_tools
    assert prompt_of(spec_of(asked), base).tool_format == without


def test_a_call_that_has_to_be_made_begins_as_the_prompt_asks_for_calls(base: LoadedBase) -> None:
    base = replace(base, tokenizer=tokenizer_of("deepseekv3"), memo={})  # its template lists no tools
    tool = {"name": "ls", "description": None, "parameters": None}
    asked = [chat_message({"role": "user", "content": "Hello."})]
    prompt = prompt_of(spec_of(asked, tools=[tool], tool_choice="required", max_tokens=9), base)
    assert prompt.opening == '<tool_call>\n{"name": "ls", "arguments":'


@pytest.mark.parametrize(("asked", "thinks"), [(None, True), (True, True), (False, False)])
def test_a_template_that_lets_a_model_think_aloud_is_told_what_the_chat_asks(
    base: LoadedBase, asked: bool | None, thinks: bool
) -> None:
    tokenizer = tokenizer_of("chatml")
    tokenizer.chat_template += "{% if add_generation_prompt and not enable_thinking %}quiet{% endif %}"
    spec = spec_of([chat_message({"role": "user", "content": "Hello."})], enable_thinking=asked)
    prompt = tokenizer.decode(list(prompt_of(spec, replace(base, tokenizer=tokenizer, memo={})).ids))
    assert prompt.endswith("quiet") is not thinks
