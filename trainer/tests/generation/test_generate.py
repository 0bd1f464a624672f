import itertools
import json
import random
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from imprint_trainer.errors import Cancelled, ContextLengthExceeded, PromptRefused
from imprint_trainer.generation.generate import Detokenizer, Listener, StopTexts, chat, endless, generate, until
from imprint_trainer.generation.prompt import end_tokens, opening_of, prompt_of, room_after
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.load import load_base
from imprint_trainer.protocol import ChatMessage, ChatSpec, ChatTool, ChatToolCall, NamedTool
from imprint_trainer.publish.peft_format import attached
from publish.sources import random_payload, write_adapter


@pytest.fixture(scope="module")
def tokenizer(tiny_folder: Path) -> PreTrainedTokenizerBase:
    return AutoTokenizer.from_pretrained(tiny_folder)


def pieces_of(tokenizer: PreTrainedTokenizerBase, tokens: list[int]) -> list[str]:
    characters = Detokenizer(tokenizer)
    return [*(characters.add(token) for token in tokens), characters.rest()]


@example(text="<|im_end|>")
@given(text=st.text(max_size=40))
def test_pieces_are_whole_characters_and_together_the_text(tokenizer: PreTrainedTokenizerBase, text: str) -> None:
    # Split: what spells a control token is text here, as where a model writes it letter by letter.
    pieces = pieces_of(tokenizer, tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True))
    assert "".join(pieces) == text
    for piece in pieces:
        assert "\ufffd" not in piece or "\ufffd" in text


@given(tokens=st.lists(st.integers(0, 319), max_size=30))
def test_pieces_of_any_tokens_are_together_what_decoding_them_at_once_gives(
    tokenizer: PreTrainedTokenizerBase, tokens: list[int]
) -> None:
    whole = tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    assert "".join(pieces_of(tokenizer, tokens)) == whole


@given(pieces=st.lists(st.text("ab", max_size=3), max_size=12), stops=st.lists(st.text("ab", min_size=1), max_size=4))
def test_the_text_is_cut_at_the_first_stop_however_it_comes_in_pieces(pieces: list[str], stops: list[str]) -> None:
    text = "".join(pieces)
    ends = [(text.index(stop) + len(stop), text.index(stop)) for stop in stops if stop in text]
    expected = text[: min(ends)[1]] if ends else text
    watched = StopTexts(stops)
    told = ""
    for piece in pieces:
        told += watched.add(piece)
        assert expected.startswith(told)
        if watched.found is not None:
            break
    assert told + watched.rest() == expected
    assert (watched.found is not None) == bool(ends)


def test_nothing_is_held_back_that_cannot_begin_a_stop_text() -> None:
    watched = StopTexts(["\n\n", "END"])
    assert [watched.add(piece) for piece in ("one", "\n", "two", "EN", "T")] == ["one", "", "\ntwo", "", "ENT"]


PROMPTS = [(1, 50, 60, 70), (1, 80), tuple(range(30, 60)), (1, 99, 12)]


def step_by_step(base: LoadedBase, prompt: tuple[int, ...], tokens: int) -> list[int]:
    ids = list(prompt)
    with torch.no_grad():
        for _ in range(tokens):
            token = int(base.model(input_ids=torch.tensor([ids])).logits[0, -1].argmax())
            if token in end_tokens(base):
                break
            ids.append(token)
    return ids[len(prompt) :]


def test_answers_side_by_side_are_those_of_each_alone(base: LoadedBase) -> None:
    alone = [step_by_step(base, prompt, 12) for prompt in PROMPTS]
    assert generate(base.model, base, PROMPTS, 12, lambda: None) == alone


def test_an_answer_ends_before_its_end_of_turn_token() -> None:
    assert until([5, 6, 2, 7, 2], frozenset({2})) == [5, 6]
    assert until([5, 6], frozenset({2})) == [5, 6]


def test_a_cancel_is_heard_between_tokens(base: LoadedBase) -> None:
    asked = itertools.count(1)

    def stop() -> None:
        if next(asked) == 3:
            raise Cancelled

    with pytest.raises(Cancelled):
        generate(base.model, base, PROMPTS, 12, stop)
    assert next(asked) == 4


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
        "top_k": 0,
        "min_p": 0,
        "enable_thinking": None,
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


@pytest.mark.parametrize(("period", "length"), [(1, 512), (7, 512), (32, 512), (33, None)])
def test_an_answer_that_says_the_same_over_and_over_ends(base: LoadedBase, period: int, length: int | None) -> None:
    listener = Listener(spec_of(), base, with_calls=False, cancelled=lambda: False, on_text=lambda _: None)
    tokens = range(10, 10 + period)
    said = [at for at in range(900) if bool(listener(torch.tensor([[tokens[at % period]]]), None)[0])]
    assert (said[0] + 1 if said else None) == length


def test_an_answer_of_few_words_in_no_order_goes_on() -> None:
    drawn = random.Random(0)
    said = [drawn.choice([5, 6]) for _ in range(3000)]
    assert not any(endless(said[:at]) for at in range(len(said)))


@pytest.mark.parametrize("narrow", [{"top_p": 1e-6}, {"top_k": 1}, {"min_p": 1}])
def test_a_narrow_choice_always_takes_the_likeliest_token(base: LoadedBase, narrow: dict[str, Any]) -> None:
    greedy, _ = answer(base, spec_of(temperature=0, max_tokens=12))
    drawn, _ = answer(base, spec_of(**narrow, max_tokens=12))
    assert drawn == greedy


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
        ("required", 0, "hermes", ""),
        ("required", 1, "llama3", '{"name": "list_files", "parameters":'),
        ("required", 2, "mistral", '[TOOL_CALLS][{"name": "'),
        (NamedTool(name="x"), 2, "qwen3-coder", "<tool_call>\n<function=x>\n"),
        ("required", 2, "generic", '<tool_call>\n{"name": "'),
        ("required", 2, "lfm2", "<|tool_call_start|>["),
        ("required", 1, "harmony", "<|channel|>commentary to=functions.list_files <|constrain|>json<|message|>"),
    ],
)
def test_each_family_begins_calls_in_its_own_way(choice: Any, tools: int, tool_format: str, expected: str) -> None:
    assert opening_of(spec_of(tools=[TOOL] * tools, tool_choice=choice), tool_format) == expected


PRESETS = [
    {"repetition_penalty": 9.0},
    {"no_repeat_ngram_size": 1},
    {"do_sample": True, "temperature": 5.0, "top_k": 3, "min_p": 0.1},
    {"num_beams": 3, "length_penalty": -2.0},
    {"suppress_tokens": list(range(3, 200))},
    {"bad_words_ids": [[token] for token in range(200, 310)]},
    {"forced_eos_token_id": 2, "min_new_tokens": 9},
    {"guidance_scale": 3.0},
]


@pytest.mark.parametrize("presets", PRESETS, ids=lambda presets: next(iter(presets)))
@pytest.mark.parametrize("adapted", [False, True])
def test_temperature_0_takes_the_likeliest_tokens_whatever_presets_a_base_brings(
    presets: dict[str, Any], adapted: bool, tiny_copy: Path, tmp_path: Path
) -> None:
    config = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, **presets}
    (tiny_copy / "generation_config.json").write_text(json.dumps(config))
    base = load_base(str(tiny_copy), quantization="none", device="cpu")
    adapter = write_adapter(tmp_path / "adapter", random_payload(base.model)) if adapted else None
    spec = spec_of(temperature=0, max_tokens=12, adapter_path=str(adapter) if adapter else None)
    prompt = prompt_of(spec, base).ids
    with attached(base, adapter) if adapter else nullcontext(base.model) as model:
        expected = step_by_step(replace(base, model=model), prompt, 12)
        assert generate(model, base, [prompt], 12, lambda: None) == [expected]
    narrow = spec.model_copy(update={"temperature": 1, "top_p": 1e-6})
    for one in (spec, narrow):
        assert answer(base, one)[0]["text"] == base.tokenizer.decode(expected)
