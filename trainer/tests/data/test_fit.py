import re

from hypothesis import given
from hypothesis import strategies as st

from data.families import tokenizer_of
from imprint_trainer.data.codec import codec_for
from imprint_trainer.data.fit import fair_shares, marker, shortened

TEXTS = st.text(alphabet="abc \n🎉é<|im_end|>", max_size=300)


@given(TEXTS, st.integers(0, 120))
def test_a_shortened_text_fits_and_says_what_is_missing(text: str, tokens: int) -> None:
    codec = codec_for(tokenizer_of("chatml"), [text])
    result = shortened(codec.hide(text), tokens=tokens, codec=codec)
    if result == codec.hide(text):
        return
    assert codec.count(result) <= tokens or result == marker(len(text))
    start, count, end = re.fullmatch(
        r"(.*)\n\[\.\.\. (\d+) characters cut \.\.\.]\n(.*)", codec.reveal(result), re.S
    ).groups()
    assert text.startswith(start)
    assert text.endswith(end)
    assert len(start) + int(count) + len(end) == len(text)


def test_beginning_and_end_are_kept() -> None:
    codec = codec_for(tokenizer_of("chatml"), [])
    result = shortened("first line\n" + "filler " * 200 + "\nlast line", tokens=60, codec=codec)
    assert result.startswith("first line")
    assert result.endswith("last line")


@given(st.lists(st.integers(0, 100)), st.integers(-5, 500))
def test_shares_fit_and_small_texts_keep_all(sizes: list[int], total: int) -> None:
    shares = fair_shares(sizes, total)
    assert sum(shares) <= max(total, 0)
    assert all(share <= size for share, size in zip(shares, sizes, strict=True))
    if sum(sizes) <= total:
        assert shares == sizes


@given(st.integers(30, 120), st.integers(0, 190))
def test_what_is_kept_of_the_middle_stands_between_markers(tokens: int, line: int) -> None:
    codec = codec_for(tokenizer_of("chatml"), [])
    text = "".join(f"line {n}\n" for n in range(200))
    start = text.index(f"line {line}\n")
    keep = (start, start + len(f"line {line}\n"))
    result = shortened(text, tokens=tokens, codec=codec, keep=[keep])
    assert codec.count(result) <= tokens
    cut = sum(int(count) for count in re.findall(r"\n\[\.\.\. (\d+) characters cut \.\.\.]\n", result))
    assert len(re.sub(r"\n\[\.\.\. \d+ characters cut \.\.\.]\n", "", result)) + cut == len(text)
    if tokens >= 100:  # room for two markers, the line, and a beginning
        assert f"line {line}\n" in result


def test_what_does_not_fit_is_not_kept() -> None:
    codec = codec_for(tokenizer_of("chatml"), [])
    text = "start " + "filler " * 400 + "end"
    assert shortened(text, tokens=60, codec=codec, keep=[(10, 2000)]) == shortened(text, tokens=60, codec=codec)
