from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from imprint_trainer.generation.generate import Detokenizer, StopTexts


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
