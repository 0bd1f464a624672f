import itertools
from typing import Any

import pytest
import torch

from imprint_trainer.errors import Cancelled, PromptRefused
from imprint_trainer.jobs.chat import chat
from imprint_trainer.jobs.prompt import prompt_of
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.protocol import ChatMessage, ChatSpec, ChatTool

TOOL = ChatTool(name="list_files", description=None, parameters={"type": "object", "properties": {}})


def spec_of(**changes: Any) -> ChatSpec:
    fields = {
        "base_model": "tiny",
        "adapter_path": None,
        "messages": [ChatMessage(role="user", content="Please fix it.")],
        "tools": [],
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
    return chat(spec, base, cancelled=lambda: False, on_text=pieces.append), pieces


def test_a_cancelled_chat_stops_after_the_token_at_hand(base: LoadedBase) -> None:
    whole, _ = answer(base, spec_of())
    assert whole["completion_tokens"] > 3
    asked = itertools.count(1)
    with pytest.raises(Cancelled):
        chat(spec_of(), base, cancelled=lambda: next(asked) == 3, on_text=lambda _: None)
    assert next(asked) == 4
    assert answer(base, spec_of())[0] == whole


def test_a_stop_text_ends_the_answer_before_itself(base: LoadedBase) -> None:
    whole, pieces = answer(base, spec_of())
    assert "".join(pieces) == whole["text"]
    stop = whole["text"][20:24]
    cut, told = answer(base, spec_of(stop=["never said", stop]))
    assert cut["text"] == "".join(told) == whole["text"][: whole["text"].index(stop)]
    assert cut["finish_reason"] == "stop"
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


def test_tools_stand_in_the_prompt_of_a_template_that_lists_them(base: LoadedBase) -> None:
    with pytest.raises(PromptRefused, match="leave tools out"):
        prompt_of(spec_of(tools=[TOOL]), base)
    base.memo.clear()
    base.tokenizer.chat_template = "{{ tools | tojson if tools else '' }}" + base.tokenizer.chat_template
    shown = base.tokenizer.decode(prompt_of(spec_of(tools=[TOOL]), base)["input_ids"][0])
    assert '"name": "list_files"' in shown
    assert "description" not in shown


def test_a_template_that_refuses_the_messages_is_quoted(base: LoadedBase) -> None:
    base.tokenizer.chat_template = "{{ raise_exception('No second user message!') }}"
    with pytest.raises(PromptRefused, match="No second user message!"):
        prompt_of(spec_of(), base)
