import pytest

from imprint_trainer.data.templates import Traits, chat_template, traits_of
from imprint_trainer.errors import TemplateUnsupported

from .families import tokenizer_of, tokenizer_with


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
