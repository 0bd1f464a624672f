import pytest
from transformers import PreTrainedTokenizerBase

from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.prompts import Prompts

from ..tiny import CHATML, tiny_tokenizer

DEFAULT_SYSTEM = (
    "{% if messages[0].role != 'system' %}<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n{% endif %}"
    + CHATML
)
QUESTIONS = ["What is the port?", " spaces ", "two\nlines", "Ünïcode {x}"]


@pytest.mark.parametrize("template", [CHATML, DEFAULT_SYSTEM])
@pytest.mark.parametrize("question", QUESTIONS)
def test_prefix_and_question_are_the_tokenizers_own_prompt(template: str, question: str) -> None:
    tokenizer = tiny_tokenizer(template)
    prompts = Prompts(tokenizer)
    asked = [{"role": "user", "content": question}]
    whole = tokenizer.apply_chat_template(asked, tokenize=True, add_generation_prompt=True, return_dict=False)
    assert prompts.prefix + prompts.question(question) == list(whole)


def test_the_default_system_turn_is_the_shared_prefix() -> None:
    tokenizer = tiny_tokenizer(DEFAULT_SYSTEM)
    assert tokenizer.decode(Prompts(tokenizer).prefix).strip().endswith("You are a helpful assistant.<|im_end|>")
    assert Prompts(tiny_tokenizer(CHATML)).prefix == []


def test_an_answer_ends_with_the_templates_end_of_turn() -> None:
    tokenizer = tiny_tokenizer(CHATML)
    assert tokenizer.eos_token == "<|endoftext|>"
    assert Prompts(tokenizer).answer("41")[-1] == tokenizer.convert_tokens_to_ids("<|im_end|>")


def test_a_template_without_special_tokens_ends_with_the_tokenizers() -> None:
    tokenizer: PreTrainedTokenizerBase = tiny_tokenizer(
        "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}a:{% endif %}"
    )
    prompts = Prompts(tokenizer)
    assert prompts.prefix == []
    assert prompts.end == tokenizer.eos_token_id


def test_an_answer_comes_back_as_text(tiny_base: Base) -> None:
    prompts = Prompts(tiny_base.tokenizer)
    assert prompts.text(prompts.answer("npm run build:fox")) == "npm run build:fox"


def test_the_teacher_reads_the_document_before_the_question(tiny_base: Base) -> None:
    prompts = Prompts(tiny_base.tokenizer)
    text = tiny_base.tokenizer.decode(prompts.with_document("The port is 1.", "Which port?"))
    assert text.index("The port is 1.") < text.index("Which port?")
