"""The tokenizer of a GGUF file: read by transformers, which overlooks how some families split text; then tried."""

from collections.abc import Sequence
from typing import Any

from imprint_trainer.bases.gguf_weights import Gguf
from imprint_trainer.errors import BaseModelInvalid, BaseModelUnsupported

# How files call a way to split text before byte-level BPE (`tokenizer.ggml.pre`).
EACH_DIGIT = ("smollm", "refact", "starcoder")  # refact: Granite
PLAIN = ("gpt-2",)
READ_RIGHT = ("qwen2", "deepseek-r1-qwen", "llama-bpe", "llama3", "llama-v3", "smaug-bpe", "tekken")
NORMALISED = ("qwen2", "deepseek-r1-qwen")  # NFC, as these families' own tokenizers do
WHOLE_FIRST = ("llama-bpe", "llama3", "llama-v3", "smaug-bpe", "tekken")  # a known word is taken before any merge
NORMAL, CONTROL, USER_DEFINED = 1, 3, 4
SPACE = "\u2581"  # as SentencePiece writes one
TRIED = 2000  # words of a vocabulary, evenly spread
UNREACHED = 0.02  # share of words that text is never split into: a vocabulary and how it was learned have nearly none
LARGE = 1000  # words of a vocabulary that has numbers of two digits, unless each digit stands alone

SAMPLE = "def f(X: int = 1234) -> str:\n\treturn f'{x}'  # naïve — 你好, 🙂 don't\r\n\n    3.14159 == 10_000\n"
QUESTION = "What is the capital of France?"


def read_tokenizer(file: Gguf) -> Any:
    """Raises BaseModelUnsupported for one that is not known here, BaseModelInvalid for one that is broken."""
    from transformers import PreTrainedTokenizerFast
    from transformers.integrations.gguf import convert_gguf_tokenizer, get_gguf_tokenizer

    pre = file.field("tokenizer.ggml.pre", "default") if file.field("tokenizer.ggml.model") == "gpt2" else None
    if pre is not None and pre not in (*EACH_DIGIT, *PLAIN, *READ_RIGHT):
        raise BaseModelUnsupported(f"{file.path.name} splits text in the way {pre}, which is not known here")
    architecture, stored, settings = get_gguf_tokenizer(str(file.path))
    backend, _ = convert_gguf_tokenizer(architecture, stored)
    settle(backend, pre)
    tokens = file.field("tokenizer.ggml.tokens")
    named = {
        f"{name}_token": tokens[index]
        for name, key in {"bos": "bos", "eos": "eos", "unk": "unknown", "pad": "padding"}.items()
        if (index := file.field(f"tokenizer.ggml.{key}_token_id", None)) is not None
    }
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend,
        **{"pad_token": named.get("eos_token"), **named},
        chat_template=settings.get("chat_template"),
        add_bos_token=bool(settings.get("add_bos_token", False)),
        model_max_length=file.shape("context_length"),
        clean_up_tokenization_spaces=False,
    )
    kinds = file.field("tokenizer.ggml.token_type", [])
    check(tokenizer, tokens, kinds, file.path.name)
    if pre is not None:
        words = [token for token, kind in zip(tokens, kinds, strict=False) if kind == NORMAL]
        check_split(tokenizer, words, pre, file.path.name)
    elif not file.field("tokenizer.ggml.add_space_prefix", True) and tokenizer.tokenize("a")[0].startswith(SPACE):
        raise BaseModelUnsupported(f"{file.path.name} puts no space before text, and its tokenizer is read with one")
    return tokenizer


def settle(backend: Any, pre: str | None) -> None:
    from tokenizers import normalizers, pre_tokenizers

    if pre in EACH_DIGIT:  # transformers leaves out that digits stand alone before the byte-level split
        split = [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        backend.pre_tokenizer = pre_tokenizers.Sequence(split)
    if pre in NORMALISED:
        backend.normalizer = normalizers.NFC()
    if pre in WHOLE_FIRST:
        backend.model.ignore_merges = True


def check(tokenizer: Any, tokens: Sequence[str], kinds: Sequence[int], name: str) -> None:
    """Text comes back as it was, control tokens are one token each, and the chat template writes what it is given.
    Raises BaseModelInvalid."""
    back = tokenizer.decode(tokenizer.encode(SAMPLE, add_special_tokens=False))
    if back != SAMPLE:
        raise BaseModelInvalid(f"the tokenizer of {name} does not give text back: {back[:60]!r}")
    for index, (token, kind) in enumerate(zip(tokens, kinds, strict=False)):
        if kind in (CONTROL, USER_DEFINED) and tokenizer.encode(token, add_special_tokens=False) != [index]:
            raise BaseModelInvalid(f"the tokenizer of {name} does not read {token!r} as token {index}")
    if not tokenizer.chat_template:
        return
    try:
        text = tokenizer.apply_chat_template([{"role": "user", "content": QUESTION}], tokenize=False)
    except Exception as error:  # whatever the template's own code raises
        raise BaseModelInvalid(f"the chat template of {name} cannot be used: {error}") from error
    if QUESTION not in text:
        raise BaseModelInvalid(f"the chat template of {name} leaves out what the user says")


def check_split(tokenizer: Any, words: Sequence[str], pre: str, name: str) -> None:
    """Text is split as it was when the words of a byte-level vocabulary were learned. Raises BaseModelInvalid."""
    tried = words[:: max(1, len(words) // TRIED)]
    written = [(word, tokenizer.convert_tokens_to_string([word])) for word in tried]
    whole = [(word, text) for word, text in written if text.isascii()]  # scripts with combining marks are cut in them
    split = [(text, pieces) for word, text in whole if (pieces := tokenizer.tokenize(text)) != [word]]
    if len(split) > UNREACHED * len(whole):
        text, pieces = split[0]
        raise BaseModelInvalid(
            f"{name} says that its text is split in the way {pre}, and its tokenizer has other words: "
            f"{len(split)} of {len(whole)} are never used, such as {text!r}, which becomes {pieces}"
        )
    together = len(tokenizer.backend_tokenizer.pre_tokenizer.pre_tokenize_str("12")) == 1
    if together and len(words) >= LARGE and not any(word[-2:].isdigit() for word in words if len(word) > 1):
        raise BaseModelInvalid(
            f"{name} says that its text is split in the way {pre}, which keeps digits together, and its tokenizer has "
            "no word of two digits: they were split"
        )
