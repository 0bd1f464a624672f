import itertools
from typing import Any, Literal

import pytest
import torch

from imprint_trainer.errors import Cancelled, ContextLengthExceeded, PromptRefused
from imprint_trainer.generation.generate import chat
from imprint_trainer.generation.prompt import opening_of, prompt_of, room_after
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.protocol import ChatMessage, ChatSpec, ChatTool, ChatToolCall, NamedTool

TOOL = ChatTool(name="list_files", description=None, parameters={"type": "object", "properties": {}})


def said(role: Literal["system", "user", "assistant", "tool"], content: str, **fields: Any) -> ChatMessage:
    return ChatMessage(role=role, content=content, **({"tool_calls": [], "tool_call_id": None} | fields))


def spec_of(**changes: Any) -> ChatSpec:
    fields = {
        "base_model": "tiny",
        "adapter_path": None,
        "messages": [said("user", "Please fix it.")],
        "tools": [],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "json_schema": None,
        "max_tokens": 400,
        "temperature": 2,
        "top_p": 1,
        "stop": [],
        "seed": 1,
        "stream": True,
    }
    return ChatSpec(**(fields | changes))


def answer(base: LoadedBase, spec: ChatSpec) -> tuple[dict[str, Any], list[str]]:
    pieces: list[str] = []
    return chat(spec, base, cancelled=lambda: False, on_prompt=lambda _: None, on_text=pieces.append), pieces


def test_a_cancelled_chat_stops_after_the_token_at_hand(base: LoadedBase) -> None:
    whole, _ = answer(base, spec_of())
    assert whole["completion_tokens"] > 3
    asked = itertools.count(1)
    with pytest.raises(Cancelled):
        chat(spec_of(), base, cancelled=lambda: next(asked) == 3, on_prompt=lambda _: None, on_text=lambda _: None)
    assert next(asked) == 4
    assert answer(base, spec_of())[0] == whole


def test_a_stop_text_ends_the_answer_before_itself(base: LoadedBase) -> None:
    whole, pieces = answer(base, spec_of())
    assert "".join(pieces) == whole["text"]
    stop = whole["text"][20:24]
    cut, told = answer(base, spec_of(stop=["never said", stop]))
    assert cut["text"] == "".join(told) == whole["text"][: whole["text"].index(stop)]
    assert (cut["finish_reason"], cut["stop_text"], whole["stop_text"]) == ("stop", stop, None)
    assert cut["completion_tokens"] < whole["completion_tokens"]


def test_a_narrow_nucleus_always_takes_the_likeliest_token(base: LoadedBase) -> None:
    greedy, _ = answer(base, spec_of(temperature=0, max_tokens=12))
    narrow, _ = answer(base, spec_of(top_p=1e-6, max_tokens=12))
    assert narrow == greedy


def test_a_chat_leaves_the_random_numbers_as_they_were(base: LoadedBase) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    answer(base, spec_of(max_tokens=8))
    assert torch.equal(torch.rand(3), expected)


def shown(base: LoadedBase, spec: ChatSpec) -> str:
    base.memo.clear()
    return str(base.tokenizer.decode(prompt_of(spec, base).ids))


def test_tools_stand_in_the_prompt_as_the_template_lists_them_or_as_text(base: LoadedBase) -> None:
    assert "<tools>\n{" in shown(base, spec_of(tools=[TOOL]))
    assert prompt_of(spec_of(tools=[TOOL]), base).tool_format == "generic"
    base.tokenizer.chat_template = "{{ tools | tojson if tools else '' }}" + base.tokenizer.chat_template
    listed = shown(base, spec_of(tools=[TOOL]))
    assert '"name": "list_files"' in listed
    assert "<tools>" not in listed


def test_a_control_token_that_a_message_quotes_stays_text(base: LoadedBase) -> None:
    (end,) = base.tokenizer("<|im_end|>", add_special_tokens=False)["input_ids"]
    quoted = prompt_of(spec_of(messages=[said("user", "What is <|im_end|>?")]), base).ids
    assert quoted.count(end) == 1
    assert "What is <|im_end|>?" in base.tokenizer.decode(quoted)


def test_a_result_without_its_call_is_refused(base: LoadedBase) -> None:
    with pytest.raises(PromptRefused, match="no message before it makes"):
        prompt_of(spec_of(messages=[said("user", "Go."), said("tool", "a.py", tool_call_id="c1")]), base)


def test_a_template_that_refuses_the_messages_is_quoted(base: LoadedBase) -> None:
    base.tokenizer.chat_template = "{{ raise_exception('No second user message!') }}"
    with pytest.raises(PromptRefused, match="No second user message!"):
        prompt_of(spec_of(), base)


def test_an_answer_without_a_limit_goes_to_the_end_of_the_context(base: LoadedBase) -> None:
    context = room_after(0, base)
    messages = [said("user", "x " * 100)]
    length = answer(base, spec_of(messages=messages, max_tokens=1))[0]["prompt_tokens"]
    full, _ = answer(base, spec_of(messages=messages, max_tokens=None, stop=[], temperature=2))
    assert full["finish_reason"] == "stop" or full["completion_tokens"] == context - length


def test_a_prompt_that_fills_the_context_is_counted_and_refused_with_both_numbers(base: LoadedBase) -> None:
    context = room_after(0, base)
    spec = spec_of(messages=[said("user", "x " * context)])
    count, _ = answer(base, spec.model_copy(update={"max_tokens": 0}))
    assert count["completion_tokens"] == 0
    expected = f"too long: {count['prompt_tokens']} tokens > {context - 1} maximum.* context length is {context} tokens"
    with pytest.raises(ContextLengthExceeded, match=expected):
        answer(base, spec)


def test_what_cannot_fit_is_refused_without_being_tokenised(base: LoadedBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("imprint_trainer.generation.prompt.rendered", lambda *_: pytest.fail("it was rendered"))
    with pytest.raises(ContextLengthExceeded, match=r"too long: \d+ tokens > \d+ maximum"):
        answer(base, spec_of(messages=[said("user", "x" * 8_000_000)]))


def test_what_is_known_of_the_prompt_is_told_before_the_text(base: LoadedBase) -> None:
    told: list[Any] = []
    spec = spec_of(max_tokens=4)
    result = chat(spec, base, cancelled=lambda: False, on_prompt=told.append, on_text=told.append)
    assert told[0] == {"prompt_tokens": result["prompt_tokens"], "tool_format": None}
    assert "".join(told[1:]) == result["text"]


def test_a_schema_for_the_answer_is_refused(base: LoadedBase) -> None:
    with pytest.raises(PromptRefused, match="no grammars"):
        answer(base, spec_of(json_schema={"type": "object"}))


def test_calls_and_results_of_the_conversation_stand_in_the_prompt(base: LoadedBase) -> None:
    calls = [ChatToolCall(id="c1", name="list_files", arguments='{"path": "src"}')]
    messages = [said("user", "Go."), said("assistant", "", tool_calls=calls), said("tool", "a.py", tool_call_id="c1")]
    assert shown(base, spec_of(messages=messages)).endswith(
        '<tool_call>\n{"name": "list_files", "arguments": {"path": "src"}}\n</tool_call><|im_end|>\n'
        "<|im_start|>user\n<tool_response>\na.py\n</tool_response><|im_end|>\n<|im_start|>assistant\n"
    )


def test_a_call_that_has_to_be_made_is_begun_for_the_model(base: LoadedBase) -> None:
    base.memo.clear()
    base.tokenizer.chat_template = "{{ tools | tojson if tools else '' }}" + base.tokenizer.chat_template
    named = spec_of(tools=[TOOL], tool_choice=NamedTool(name="list_files"), max_tokens=40)
    free, _ = answer(base, spec_of(tools=[TOOL], max_tokens=40))
    made, told = answer(base, named)
    assert made["text"].startswith('<tool_call>\n{"name": "list_files", "arguments":')
    assert "".join(told) == made["text"]
    assert made["prompt_tokens"] == free["prompt_tokens"]
    assert made["completion_tokens"] <= 40


@pytest.mark.parametrize(
    ("choice", "tools", "tool_format", "expected"),
    [
        ("auto", 1, "hermes", ""),
        ("required", 1, None, ""),
        ("required", 1, "llama3", '{"name": "list_files", "parameters":'),
        ("required", 2, "mistral", '[TOOL_CALLS][{"name": "'),
        (NamedTool(name="x"), 2, "qwen3-coder", "<tool_call>\n<function=x>\n"),
        ("required", 2, "a family of its own", '<tool_call>\n{"name": "'),
    ],
)
def test_each_family_begins_calls_in_its_own_way(
    choice: Any, tools: int, tool_format: str | None, expected: str
) -> None:
    assert opening_of(spec_of(tools=[TOOL] * tools, tool_choice=choice), tool_format) == expected
