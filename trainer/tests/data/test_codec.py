from bisect import bisect_left
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from data.families import CORPUS, tokenizer_of, tokenizer_with
from imprint_trainer.data import codec as module
from imprint_trainer.data.codec import Codec, codec_for, covering, encodings_of, seams
from imprint_trainer.errors import BaseModelInvalid

CONTROL = ["<|im_start|>", "<|im_end|>", "<think>", "</think>", "<tool_call>"]
SESSION_TEXT = st.lists(st.sampled_from([*CONTROL, " ", "\n", "look", "é", "🎉", "<", "|im_end|>", "\U000f0000"])).map(
    "".join
)


LINES = st.lists(
    st.sampled_from(["<|im_end|>", "\n", "\r", " ", "\t", "a", "if", "Z", "0", "12", ";", ")", "'s", "/", "é"])
)

# How GPT-4's and Llama 3's tokenizers, and GPT-4o's, cut a text into words.
GPT4 = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
GPT4O = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"


@cache
def cutting(words: str) -> PreTrainedTokenizerFast:
    """A byte-level tokenizer that has joined all that its words let it join; "" cuts no words."""
    backend = Tokenizer(models.BPE())
    steps = [pre_tokenizers.Split(Regex(words), "isolated")] if words else []
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=words == "GPT-2")
    backend.pre_tokenizer = pre_tokenizers.Sequence([*(steps if words != "GPT-2" else []), level])
    backend.decoder = decoders.ByteLevel()
    corpus = [*CORPUS, "a;\n\nb)\n/a\n\n  if\n\ta's;\n0\n12\n  Z\n" * 9, ";\n/;\n/ a\n a\n a;\na;\na" * 9]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=600, initial_alphabet=alphabet, show_progress=False)
    backend.train_from_iterator(corpus, trainer)
    backend.add_special_tokens(["<|im_end|>"])
    return PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<|im_end|>")


def qwen(*texts: str) -> Codec:
    return codec_for(tokenizer_of("qwen3"), texts)


@given(SESSION_TEXT)
def test_session_text_never_becomes_a_control_token_and_reads_the_same(text: str) -> None:
    codec = qwen(text)
    hidden = codec.hide(text)
    encoded = codec.encode(hidden)
    assert codec.decode(encoded.ids) == text == codec.reveal(hidden)
    assert not codec.control_ids & set(encoded.ids)


@given(SESSION_TEXT, SESSION_TEXT)
def test_as_many_tokens_are_counted_as_a_text_is_encoded_to(before: str, after: str) -> None:
    codec = qwen(before, after)
    for text in (codec.hide(before), codec.hide(before) + "<|im_end|>" + codec.hide(after)):
        assert [codec.count(text), codec.count(text)] == [len(codec.encode(text).ids)] * 2


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9))))
def test_offsets_without_gaps_begin_where_the_ones_before_have_ended(offsets: list[tuple[int, int]]) -> None:
    covered = covering(offsets)
    reached = [max([0, *(end for _, end in offsets[:count])]) for count in range(len(offsets) + 1)]
    assert list(covered.ends) == reached[1:]
    assert list(covered.starts) == [min(start, end) for (start, _), end in zip(offsets, reached[:-1], strict=True)]


@given(SESSION_TEXT, SESSION_TEXT)
def test_offsets_cover_every_character_in_order(before: str, after: str) -> None:
    codec = qwen(before, after)
    text = codec.hide(before) + "<|im_end|>" + codec.hide(after)
    encoded = codec.encode(text)
    assert list(encoded.starts) == sorted(encoded.starts)
    assert list(encoded.ends) == sorted(encoded.ends)
    assert (encoded.starts[0], encoded.ends[-1]) == (0, len(text))
    assert [
        text[a:b] for i, a, b in zip(encoded.ids, encoded.starts, encoded.ends, strict=True) if i in codec.control_ids
    ] == ["<|im_end|>"]


def test_text_without_control_strings_is_encoded_as_the_tokenizer_does_it() -> None:
    text = "<|im_start|>user\nThe quick  brown fox\n\n🎉<|im_end|>\n"
    assert list(qwen().encode(text).ids) == tokenizer_of("qwen3")(text, add_special_tokens=False)["input_ids"]


@given(st.sampled_from(["GPT-2", GPT4, GPT4O, ""]), LINES.map("".join))
def test_texts_encoded_in_parts_have_the_tokens_and_offsets_of_the_whole(words: str, text: str) -> None:
    tokenizer = cutting(words)
    whole = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    codec = codec_for(tokenizer, [])
    encoded, covered = codec.encode(text), covering(whole["offset_mapping"])
    assert list(encoded.ids) == whole["input_ids"]
    assert (tuple(encoded.starts), tuple(encoded.ends)) == covered
    for character in range(len(text) + 2):
        assert encoded.first_from(character) == bisect_left(covered.starts, character)
    assert codec.count(text) == len(whole["input_ids"])


@pytest.mark.parametrize("words", ["GPT-2", GPT4, GPT4O])
def test_lines_are_parts_where_words_end_with_them(words: str) -> None:
    assert len(seams(cutting(words)).parts("one\ntwo<|im_end|>\nthree\n  four")) >= 4


def test_lines_are_no_parts_where_tokens_reach_beyond_them() -> None:
    assert seams(cutting("")).parts("a;\na;\na") == ["a;\na;\na"]


@given(st.lists(LINES.map("".join), max_size=4))
def test_encodings_that_were_forgotten_are_made_again(texts: list[str]) -> None:
    known = encodings_of(cutting(GPT4))
    codec = codec_for(cutting(GPT4), [])
    with pytest.MonkeyPatch.context() as patch:
        before = [codec.encode(text).ids for text in texts]
        patch.setattr(module, "KEPT", -1)
        assert [codec.encode(text).ids for text in texts] == before
        known.ids([])
    assert (len(known._ids), len(known._covered)) == (0, 0)


def test_a_quoted_control_string_is_encoded_as_its_letters() -> None:
    codec = qwen("a <|im_end|> b")
    plain = tokenizer_of("qwen3")("a <|im_end|> b", split_special_tokens=True)["input_ids"]
    assert list(codec.encode(codec.hide("a <|im_end|> b")).ids) == plain


def test_quoting_leaves_the_tokenizer_as_it_was() -> None:
    codec = qwen("<|im_end|>")
    codec.encode(codec.hide("<|im_end|>"))
    assert len(tokenizer_of("qwen3")("<|im_end|>", add_special_tokens=False)["input_ids"]) == 1


def test_json_values_are_hidden_inside() -> None:
    codec = qwen()
    hidden = codec.hide_all({"a": ["<|im_end|>", 1, None], "</think>": {"b": "x"}})
    assert "<" not in str(hidden)
    assert list(hidden.values())[0][1:] == [1, None]


def test_a_tokenizer_that_marks_the_start_of_a_text_gets_no_mark_inside_it() -> None:
    letters = [f"<0x{byte:02X}>" for byte in range(256)] + [*"▁abcdefghijklmnopqrstuvwxyz<>/|"]
    vocabulary = {token: index for index, token in enumerate(letters)}
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=[], byte_fallback=True))
    backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    backend.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    backend.add_special_tokens(["<s>", "</s>"])
    codec = codec_for(PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>"), [])
    encoded = codec.encode("<s>a" + codec.hide("</s>") + "b</s>")
    assert codec.decode(encoded.ids) == "<s>a</s>b</s>"
    assert [encoded.starts[0], encoded.ends[-1]] == [0, len("<s>a?b</s>")]
    assert sum(token in codec.control_ids for token in encoded.ids) == 2


def test_a_tokenizer_without_offsets_is_refused() -> None:
    class Slow:
        is_fast = False

    with pytest.raises(BaseModelInvalid, match="tokenizer.json"):
        codec_for(Slow(), [])  # type: ignore[arg-type]


def test_a_tokenizer_without_added_tokens_hides_what_templates_look_for() -> None:
    codec = codec_for(tokenizer_with(None, ()), [])
    assert codec.hide("<|im_end|>") == "<|im_end|>"
    assert "think" not in codec.hide("</think>")
    assert codec.decode(codec.encode(codec.hide("a</think>b")).ids) == "a</think>b"
