from pathlib import Path
from typing import Any

import pytest

from bases.gguf_double import write_gguf
from imprint_trainer.bases.gguf_tokenizer import EACH_DIGIT, PLAIN, READ_RIGHT, check, read_tokenizer
from imprint_trainer.bases.gguf_weights import open_gguf
from imprint_trainer.errors import BaseModelInvalid, BaseModelUnsupported
from imprint_trainer.models.load import load_base

# "helloWORLD" is where tekken differs, "'LL" where case does.
TEXT = "It'LL be 12345, helloWORLD"
EACH = ["1", "2", "3", "4", "5"]
SPLITS = {
    **dict.fromkeys(EACH_DIGIT, ["It", "'", "LL", "Ġbe", "Ġ", *EACH, ",", "ĠhelloWORLD"]),
    "gpt-2": ["It", "'", "LL", "Ġbe", "Ġ12345", ",", "ĠhelloWORLD"],
    **dict.fromkeys(("qwen2", "deepseek-r1-qwen"), ["It", "'LL", "Ġbe", "Ġ", *EACH, ",", "ĠhelloWORLD"]),
    **dict.fromkeys(
        ("llama-bpe", "llama3", "llama-v3", "smaug-bpe"), ["It", "'LL", "Ġbe", "Ġ", "123", "45", ",", "ĠhelloWORLD"]
    ),
    "tekken": ["It", "'LL", "Ġbe", "Ġ", *EACH, ",", "Ġhello", "WORLD"],
}


@pytest.fixture
def tiny(tiny_folder: Path) -> Any:
    return load_base(str(tiny_folder), quantization="none", device="cpu")


@pytest.mark.parametrize("pre", [*EACH_DIGIT, *PLAIN, *READ_RIGHT])
def test_text_is_split_as_the_file_says(pre: str, tiny: Any, tmp_path: Path) -> None:
    tokenizer = read_tokenizer(open_gguf(write_gguf(tiny, tmp_path / "a.gguf", pre=pre)))
    split = tokenizer.backend_tokenizer.pre_tokenizer.pre_tokenize_str(TEXT)
    assert [piece for piece, _ in split] == SPLITS[pre]
    # A word that is one token counts as one to families that look it up first.
    assert tokenizer.backend_tokenizer.model.ignore_merges == (pre.startswith(("llama", "smaug", "tekken")))
    composed = tokenizer.encode("e\u0301") == tokenizer.encode("\u00e9")
    assert composed == (pre in ("qwen2", "deepseek-r1-qwen"))


def test_another_way_to_split_text_is_refused_by_name(tiny: Any, tmp_path: Path) -> None:
    file = open_gguf(write_gguf(tiny, tmp_path / "a.gguf", pre="chameleon"))
    with pytest.raises(BaseModelUnsupported, match="in the way chameleon, which is not known here"):
        read_tokenizer(file)


def test_a_tokenizer_that_does_not_give_text_back_is_refused(tiny: Any) -> None:
    from tokenizers import normalizers

    tiny.tokenizer.backend_tokenizer.normalizer = normalizers.Lowercase()
    with pytest.raises(BaseModelInvalid, match="does not give text back"):
        check(tiny.tokenizer, [], [], "a.gguf")


def test_a_control_token_that_is_no_single_token_is_refused(tiny: Any) -> None:
    with pytest.raises(BaseModelInvalid, match=r"does not read '<\|other\|>' as token 1"):
        check(tiny.tokenizer, ["<|endoftext|>", "<|other|>"], [3, 3], "a.gguf")


@pytest.mark.parametrize(
    ("template", "said"),
    [("{{ messages.nothing() }}", "cannot be used"), ("always the same", "leaves out what the user")],
)
def test_a_chat_template_that_does_not_write_the_conversation_is_refused(tiny: Any, template: str, said: str) -> None:
    tiny.tokenizer.chat_template = template
    with pytest.raises(BaseModelInvalid, match=said):
        check(tiny.tokenizer, [], [], "a.gguf")
