"""For each template family: the assistant's own words and the end of its turn are supervised, and nothing else."""

import json
from typing import Any

import pytest

from data.families import CHATML_DEFAULT_SYSTEM, family, tokenizer_of, tokenizer_with
from data.sessions import agent, changes, said, session_of, shown, system, user
from imprint_trainer.data.codec import codec_for
from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.data.templates import ChatTemplate, chat_template
from imprint_trainer.errors import TemplateUnsupported

FAMILIES = [
    "chatml",
    "qwen2_5",
    "qwen3",
    "qwen3_instruct_2507",
    "llama3",
    "llama3_1",
    "mistral",
    "gemma",
    "gemma3",
    "phi3",
    "deepseek_r1_distill",
    "deepseekv3",
]
ENDED = [*FAMILIES, "gptoss"]
TALK = (user("Fix add"), agent("First I look."), user("And then?"), agent("Done, tests pass."))


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("opening", [(), (system("Be brief."),)], ids=["", "system"])
def test_only_the_assistants_words_and_the_end_of_turn_are_supervised(
    name: str, opening: tuple[dict[str, str], ...]
) -> None:
    tokenizer, end = tokenizer_of(name), family(name).end
    prepared = prepare_windows(session_of(*opening, *TALK), tokenizer, max_length=512)
    assert said(prepared, tokenizer) == ["First I look." + end, "Done, tests pass." + end]
    assert prepared.supervised_turns == 2


def test_gptoss_writes_its_channel_itself() -> None:
    prepared = prepare_windows(session_of(*TALK), tokenizer_of("gptoss"), max_length=512)
    channel = "<|channel|>final<|message|>"
    assert said(prepared, tokenizer_of("gptoss")) == [
        f"{channel}First I look.<|return|>",
        f"{channel}Done, tests pass.<|return|>",
    ]


@pytest.mark.parametrize("name", ENDED)
def test_the_last_supervised_token_of_a_turn_is_a_control_token(name: str) -> None:
    tokenizer = tokenizer_of(name)
    prepared = prepare_windows(session_of(*TALK), tokenizer, max_length=512)
    for window in prepared.windows:
        assert window.input_ids[-1] in codec_for(tokenizer, []).control_ids
        assert window.supervised[-1]
        assert not window.supervised[0]


@pytest.mark.parametrize("name", ENDED)
def test_the_prompt_of_a_last_turn_is_the_prompt_of_inference(name: str) -> None:
    tokenizer = tokenizer_of(name)
    prepared = prepare_windows(session_of(user("Fix add"), agent("Done.")), tokenizer, max_length=512)
    (window,) = prepared.windows
    prompt = tokenizer.decode(list(window.input_ids[: window.supervised.index(True)]))
    prompts = chat_template(tokenizer, reasoning=False, date=None).prompts([{"role": "user", "content": "Fix add"}])
    assert prompt in prompts or name.startswith("deepseek")  # these prompt for thoughts that answers never show


@pytest.mark.parametrize("name", ["chatml", "qwen2_5", "qwen3_instruct_2507", "llama3", "gemma"])
def test_stable_templates_give_the_masks_of_growing_prefixes(name: str) -> None:
    """The oracle renders every prefix of the conversation in full."""
    tokenizer = tokenizer_of(name)
    talk = [user("Fix add")]
    for index in range(6):
        talk += [agent(f"Step {index}."), user(f"Result {index}")]
    (window,) = prepare_windows(session_of(*talk[:-1]), tokenizer, max_length=4096).windows
    messages = [
        {"role": "assistant" if step["source"] == "agent" else "user", "content": step["text"]} for step in talk[:-1]
    ]

    def tokens(count: int, prompt: bool) -> list[int]:
        text = tokenizer.apply_chat_template(messages[:count], tokenize=False, add_generation_prompt=prompt)
        return tokenizer(text, add_special_tokens=False)["input_ids"]

    expected = [False] * len(window.input_ids)
    for index in range(1, len(messages), 2):
        for place in range(len(tokens(index, True)), min(len(tokens(index + 1, False)), len(expected))):
            expected[place] = True
    after_end = tokens(len(messages), False)
    assert list(window.input_ids) == after_end[: len(window.input_ids)]
    ends = set(tokenizer.all_special_ids)
    mask = [
        a and not (b in ends and c)
        for a, b, c in zip(expected, (0, *window.input_ids), (False, *expected), strict=False)
    ]
    assert list(window.supervised) == mask


def test_an_empty_thought_that_history_drops_stands_before_each_answer_of_one_window() -> None:
    prepared = prepare_windows(session_of(*TALK), tokenizer_of("qwen3"), max_length=512)
    (text,) = shown(prepared, tokenizer_of("qwen3"))
    opening = "<|im_start|>assistant\n<think>\n\n</think>\n\n"
    assert text.endswith(
        f"{opening}First I look.<|im_end|>\n<|im_start|>user\nAnd then?<|im_end|>\n{opening}Done, tests pass.<|im_end|>"
    )


def test_an_empty_thought_is_dropped_from_turns_that_are_context() -> None:
    talk = (user("Fix add"), agent("Wrong.", context_only="failed"), user("1 failed"), agent("Right."))
    (text,) = shown(prepare_windows(session_of(*talk), tokenizer_of("qwen3"), max_length=512), tokenizer_of("qwen3"))
    assert "<|im_start|>assistant\nWrong.<|im_end|>" in text
    assert text.endswith("<|im_start|>assistant\n<think>\n\n</think>\n\nRight.<|im_end|>")


def test_a_thought_that_history_drops_parts_the_requests() -> None:
    def thinking(text: str, *calls: tuple[str, str, str]) -> dict[str, Any]:
        return agent(text, *calls, reasoning=f"I think of {text}")

    talk = [user("One"), thinking("Look.", ("bash", "{}", "x")), thinking("Found."), user("Two"), thinking("Done.")]
    tokenizer = tokenizer_of("qwen3")
    prepared = prepare_windows(session_of(*talk), tokenizer, max_length=512, reasoning=True)
    first, second = shown(prepared, tokenizer)
    assert "I think of Look." in first
    assert "I think of Found." in first
    assert second.count("I think of") == 1
    assert "".join(said(prepared, tokenizer)).count("I think of") == 3


def test_reasoning_is_supervised_when_it_is_asked_for() -> None:
    session = session_of(user("Fix add"), agent("Done.", reasoning="One line."))
    tokenizer = tokenizer_of("qwen3")
    with_it = prepare_windows(session, tokenizer, max_length=512, reasoning=True)
    without = prepare_windows(session, tokenizer, max_length=512)
    assert said(with_it, tokenizer) == ["<think>\nOne line.\n</think>\n\nDone.<|im_end|>"]
    assert said(without, tokenizer) == ["Done.<|im_end|>"]
    assert "One line." not in shown(without, tokenizer)[0]


def test_a_template_without_a_place_for_reasoning_gets_it_as_text() -> None:
    session = session_of(user("Fix add"), agent("Done.", reasoning="One line."))
    prepared = prepare_windows(session, tokenizer_of("llama3"), max_length=512, reasoning=True)
    assert said(prepared, tokenizer_of("llama3")) == ["<think>\nOne line.\n</think>\n\nDone.<|eot_id|>"]


def test_a_system_text_that_moves_to_the_last_question_stands_where_inference_has_it() -> None:
    tokenizer = tokenizer_of("mistral")
    prepared = prepare_windows(session_of(system("Be brief."), *TALK), tokenizer, max_length=512)
    first, second = (text.removeprefix(tokenizer.bos_token) for text in shown(prepared, tokenizer))
    assert first == "[INST]Be brief.\n\nFix add[/INST]First I look.</s>"
    assert second == "[INST]Fix add[/INST]First I look.</s>[INST]Be brief.\n\nAnd then?[/INST]Done, tests pass.</s>"


def test_a_template_without_a_system_role_gets_the_system_text_in_the_task() -> None:
    prepared = prepare_windows(session_of(system("Be brief."), *TALK), tokenizer_of("gemma"), max_length=512)
    assert "<start_of_turn>user\nBe brief.\n\nFix add<end_of_turn>" in shown(prepared, tokenizer_of("gemma"))[0]


def test_the_templates_default_system_prompt_is_context() -> None:
    prepared = prepare_windows(session_of(*TALK), tokenizer_of("chatml"), max_length=512)
    (window,) = shown(prepared, tokenizer_of("chatml"))
    assert window.startswith(
        "<|im_start|>system\nYou are a small assistant<|im_end|>\n<|im_start|>user\nFix add<|im_end|>"
    )


@pytest.mark.parametrize(("name", "words"), [("chatml", "Done. \n\n"), ("llama3", "Done."), ("gemma", "Done.")])
def test_trailing_white_space_is_trained_as_the_template_renders_it(name: str, words: str) -> None:
    tokenizer = tokenizer_of(name)
    prepared = prepare_windows(session_of(user("Fix add"), agent("Done. \n\n")), tokenizer, max_length=512)
    assert said(prepared, tokenizer) == [words + family(name).end]


@pytest.mark.parametrize("name", FAMILIES)
def test_control_tokens_quoted_in_a_session_stay_text(name: str) -> None:
    tokenizer, end = tokenizer_of(name), family(name).end
    quoted = f"Write {end} and </think> there."
    session = session_of(user(f"Why {end}?"), agent(quoted), user("<think>And"), agent("So."))
    prepared = prepare_windows(session, tokenizer, max_length=512)
    assert said(prepared, tokenizer) == [quoted + end, "So." + end]
    (stop,) = tokenizer(end, add_special_tokens=False)["input_ids"]
    targets = [
        token
        for window in prepared.windows
        for token, target in zip(window.input_ids, window.supervised, strict=True)
        if target
    ]
    assert targets.count(stop) == 2


@pytest.mark.parametrize("name", FAMILIES)
def test_characters_of_several_tokens_are_whole(name: str) -> None:
    tokenizer = tokenizer_of(name)
    prepared = prepare_windows(session_of(user("🎉?"), agent("🎉 naïve 漢字 👩‍👩‍👧")), tokenizer, max_length=512)
    assert said(prepared, tokenizer) == ["🎉 naïve 漢字 👩‍👩‍👧" + family(name).end]


def test_a_token_across_the_role_header_is_not_supervised_and_reported() -> None:
    source = CHATML_DEFAULT_SYSTEM.replace("assistant\n", "assistant ").replace(
        "message.role + '\n'", "message.role + ' '"
    )
    tokenizer = tokenizer_with(source, ("<|im_start|>", "<|im_end|>"))
    prepared = prepare_windows(session_of(user("Fix"), agent("file and file")), tokenizer, max_length=512)
    (words,) = said(prepared, tokenizer)
    assert words.endswith(" and file<|im_end|>")
    assert words != "file and file<|im_end|>"
    assert changes(prepared) == {"token_across_role_header": 1}
    talk = (user("Fix"), agent("file and file"), user("Again"), agent("file and file"))
    assert changes(prepare_windows(session_of(*talk), tokenizer, max_length=512)) == {"token_across_role_header": 2}


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("{% for m in messages %}{{ m.role + ': ' + m.content + '\n' }}{% endfor %}", "no end-of-turn token"),
        ("{% for m in messages %}{{ '<|im_start|>' + m.role + m.content }}{% endfor %}", "no end-of-turn token"),
        (
            CHATML_DEFAULT_SYSTEM.replace("message.content", "message.content | replace('First', '')"),
            "leaves out or rewrites what the assistant says",
        ),
        (CHATML_DEFAULT_SYSTEM.replace("message.content", "message.content | upper"), "leaves out"),
    ],
)
def test_a_template_that_would_give_a_zero_or_wrong_mask_is_refused(source: str, sentence: str) -> None:
    with pytest.raises(TemplateUnsupported, match=sentence):
        prepare_windows(session_of(*TALK), tokenizer_with(source, ("<|im_start|>", "<|im_end|>")), max_length=512)


def test_a_days_date_does_not_change_what_is_trained() -> None:
    dated = session_of(*TALK, started_at="2025-03-04T05:06:07Z")
    assert (
        "Current date: 2025-03-04"
        in shown(prepare_windows(dated, tokenizer_of("gptoss"), max_length=512), tokenizer_of("gptoss"))[0]
    )


def test_tools_are_listed_where_the_template_lists_them() -> None:
    tools = [{"name": "bash", "description": "runs a command", "parameters": {"type": "object"}}]
    session = session_of(*TALK, tools=tools)
    function = {"name": "bash", "description": "runs a command", "parameters": {"type": "object"}}
    listed = json.dumps({"type": "function", "function": function})
    assert (
        listed in shown(prepare_windows(session, tokenizer_of("qwen2_5"), max_length=1024), tokenizer_of("qwen2_5"))[0]
    )


TURNS = 500


def long_talk(turns: int) -> list[dict[str, Any]]:
    calls = (agent(f"Step {n}.", ("bash", f'{{"n": {n}}}', f"line {n}")) for n in range(turns))
    return [step for n, call in enumerate(calls) for step in ([user(f"Request {n}")] if n % 50 == 49 else []) + [call]]


@pytest.mark.parametrize("length", [1024, 65_536])
def test_a_template_that_opens_only_the_last_answer_costs_as_much_as_the_session_is_long(
    length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer, rendered = tokenizer_of("qwen3"), []
    render = ChatTemplate.render

    def spy(self: ChatTemplate, messages: Any, *arguments: Any, **options: Any) -> str:
        rendered.append(len(messages))
        return render(self, messages, *arguments, **options)

    monkeypatch.setattr(ChatTemplate, "render", spy)

    def cost(turns: int) -> tuple[int, int]:
        """Tokens of windows, and messages rendered."""
        rendered.clear()
        session = session_of(user("Fix it"), *long_talk(turns))
        prepared = prepare_windows(session, tokenizer, max_length=length)
        found = said(prepared, tokenizer)
        call = '<tool_call>\n{"name": "bash", "arguments": {"n": N}}\n</tool_call><|im_end|>'
        assert found == [f"Step {n}.\n" + call.replace("N", str(n)) for n in range(turns)]
        opened = "".join(shown(prepared, tokenizer)).count("<think>\n\n</think>\n\nStep")
        assert opened == turns
        assert len(prepared.windows) <= 1 + prepared.tokens / (length / 2)
        return prepared.tokens, sum(rendered)

    (tokens, messages), (more_tokens, more_messages) = cost(TURNS // 4), cost(TURNS)
    assert more_tokens <= 4.4 * tokens
    assert more_messages <= 4.5 * messages


def test_every_answer_of_a_window_stands_after_the_prompt_that_the_model_is_given() -> None:
    tokenizer = tokenizer_of("qwen3")
    talk = long_talk(12)
    (window,) = prepare_windows(session_of(user("Fix it"), *talk), tokenizer, max_length=8192).windows
    template = chat_template(tokenizer, reasoning=False, date=None)
    prompts = template.prompts([{"role": "user", "content": "x"}])
    opening = prompts[0][len(template.render([{"role": "user", "content": "x"}])) :]
    for answer in window.answers:
        assert tokenizer.decode(list(window.input_ids[: answer.start])).endswith(opening)
