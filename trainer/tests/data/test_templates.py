from datetime import datetime

import pytest

from data.families import CHATML_DEFAULT_SYSTEM, tokenizer_of, tokenizer_with
from imprint_trainer.data.templates import Traits, chat_template, traits_of
from imprint_trainer.errors import TemplateUnsupported

QUESTION = {"role": "user", "content": "hi"}


def test_a_tokenizer_without_a_chat_template_is_refused_with_a_remedy() -> None:
    with pytest.raises(TemplateUnsupported, match="choose an instruct model"):
        chat_template(tokenizer_with(None, ("<s>",)), reasoning=False, date=None)


def test_a_template_is_rendered_as_the_tokenizer_renders_it() -> None:
    tokenizer = tokenizer_of("qwen2_5")
    template = chat_template(tokenizer, reasoning=False, date=None)
    assert template.render([QUESTION]) == tokenizer.apply_chat_template([QUESTION], tokenize=False)


def test_a_refusal_carries_the_templates_own_words() -> None:
    template = chat_template(tokenizer_of("mistral"), reasoning=False, date=None)
    with pytest.raises(TemplateUnsupported, match="roles must alternate"):
        template.render([QUESTION, QUESTION])


def test_a_broken_template_is_refused() -> None:
    with pytest.raises(TemplateUnsupported, match="refuses this conversation"):
        chat_template(tokenizer_with("{{ messages[9].content.x }}", ("<s>",)), reasoning=False, date=None).render(
            [QUESTION]
        )


def test_the_clock_of_a_template_stands_at_the_sessions_start() -> None:
    template = chat_template(tokenizer_of("gptoss"), reasoning=False, date=datetime(2025, 3, 4))
    assert "Current date: 2025-03-04\n" in template.render([QUESTION])


def test_a_stopped_clock_changes_nothing_else() -> None:
    source = "\n  {{- 'a' }}\n {{ strftime_now('%Y') }} {{ strftime_now(\"%d %b\") }}"
    template = chat_template(tokenizer_with(source, ("<s>",)), reasoning=False, date=datetime(2025, 3, 4))
    assert template.render([QUESTION]) == "a\n 2025 04 Mar"


def test_prompts_are_those_with_and_without_thinking() -> None:
    prompts = chat_template(tokenizer_of("qwen3"), reasoning=False, date=None).prompts([QUESTION])
    assert [prompt.split("assistant\n")[1] for prompt in prompts] == ["<think>\n\n</think>\n\n", ""]


def test_of_several_named_templates_the_one_for_tools_gets_the_tools() -> None:
    tokenizer = tokenizer_with(None, ("<|im_start|>", "<|im_end|>"))
    tokenizer.chat_template = {"default": CHATML_DEFAULT_SYSTEM, "tool_use": "{{ tools | length }}"}
    template = chat_template(tokenizer, reasoning=False, date=None)
    assert template.render([QUESTION], [{"type": "function"}]) == "1"
    assert "hi" in template.render([QUESTION])


def found(name: str) -> Traits:
    return traits_of(chat_template(tokenizer_of(name), reasoning=False, date=None))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("chatml", {"system": True, "calls": False, "tool_list": False, "alternates": False, "reasoning": False}),
        ("qwen2_5", {"calls": True, "parallel_calls": True, "text_arguments": "quoted", "tool_list": True}),
        ("qwen3", {"calls": True, "text_arguments": "raw", "reasoning": True}),
        ("llama3_1", {"calls": True, "text_with_calls": False, "parallel_calls": False}),
        ("gemma", {"system": False, "alternates": True, "calls": False}),
        ("mistral", {"system": True, "alternates": True, "calls": True, "parallel_calls": True, "tool_list": True}),
        ("gptoss", {"calls": True, "text_with_calls": True, "parallel_calls": False, "reasoning": True}),
        ("deepseekv3", {"calls": True, "object_arguments": False, "text_arguments": "raw"}),
    ],
)
def test_traits_are_found_by_rendering(name: str, expected: dict[str, object]) -> None:
    traits = found(name)
    assert {trait: getattr(traits, trait) for trait in expected} == expected


@pytest.mark.parametrize("source", ["hello", "{% for m in messages %}{{ m.role }}{% endfor %}"])
def test_a_template_that_says_nothing_is_refused(source: str) -> None:
    with pytest.raises(TemplateUnsupported, match="leaves out what user or assistant say"):
        traits_of(chat_template(tokenizer_with(source, ("<s>",)), reasoning=False, date=None))
