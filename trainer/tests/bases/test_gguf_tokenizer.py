import random
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from bases.gguf_double import write_gguf
from imprint_trainer.bases.gguf_tokenizer import (
    EACH_DIGIT,
    PLAIN,
    READ_RIGHT,
    check,
    check_split,
    read_tokenizer,
    settle,
)
from imprint_trainer.bases.gguf_weights import open_gguf
from imprint_trainer.errors import BaseModelInvalid, BaseModelUnsupported
from imprint_trainer.models.load import load_base
from tiny_model import FAMILIES, write_tiny_model

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


def learned(pre: str) -> tuple[Tokenizer, list[str]]:
    """A byte-level tokenizer whose words were learned from text that is split in a way, and those words."""
    source = random.Random(3)
    text = ["".join(source.choices("abcdefgh", k=source.randint(1, 8))) for _ in range(3000)]
    text += [str(source.randrange(10**4)) for _ in range(1000)]
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    settle(backend, pre)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    backend.train_from_iterator(
        text, trainers.BpeTrainer(vocab_size=1500, initial_alphabet=alphabet, show_progress=False)
    )
    return backend, list(backend.get_vocab())


@pytest.mark.parametrize("pre", ["gpt-2", "smollm"])
def test_a_wrong_way_to_split_text_is_found_by_the_words_of_the_file(pre: str) -> None:
    backend, words = learned(pre)
    check_split(PreTrainedTokenizerFast(tokenizer_object=backend), words, pre, "a.gguf")
    other, said = {
        "gpt-2": ("smollm", r"a.gguf says that its text is split in the way smollm, .* never used, such as '\d\d"),
        "smollm": ("gpt-2", r"a.gguf says that its text is split in the way gpt-2, .* no word of two digits"),
    }[pre]
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    settle(backend, other)
    with pytest.raises(BaseModelInvalid, match=said):
        check_split(PreTrainedTokenizerFast(tokenizer_object=backend), words, other, "a.gguf")


@pytest.mark.parametrize(
    ("family", "pieces"),
    [
        ("llama", ["\u2581def", "\u2581ret"]),
        ("mistral", ["\u2581def", "\u2581ret"]),
        ("gemma3_text", ["def", "\u2581ret"]),
    ],
)
def test_a_tokenizer_of_pieces_is_read_as_its_family_splits_text(
    family: str, pieces: list[str], tmp_path: Path
) -> None:
    settings = {**FAMILIES.get(family, {}), "num_hidden_layers": 4, "head_dim": 16}
    base = load_base(str(write_tiny_model(tmp_path / "given", family, **settings)), quantization="none", device="cpu")
    gemma = family == "gemma3_text"
    file = write_gguf(base, tmp_path / "a.gguf", pieces=True, space=not gemma)
    assert read_tokenizer(open_gguf(file)).tokenize("def ret") == pieces
    if not gemma:
        other = write_gguf(base, tmp_path / "b.gguf", pieces=True, space=False)
        with pytest.raises(BaseModelUnsupported, match="b.gguf puts no space before text"):
            read_tokenizer(open_gguf(other))
