"""The silent faults of other trainers: each is right here, or refused by name."""

import copy

import pytest

from data.families import CHATML_DEFAULT_SYSTEM, tokenizer_of, tokenizer_with
from data.sessions import agent, said, session_of, user
from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.errors import NothingToTrain, TemplateUnsupported

TALK = session_of(user("Fix add"), agent("Done."))


def test_a_template_without_generation_marks_has_no_zero_mask() -> None:
    assert "generation %}" not in CHATML_DEFAULT_SYSTEM
    prepared = prepare_windows(TALK, tokenizer_of("chatml"), max_length=128)
    assert prepared.supervised_tokens == sum(prepared.windows[0].supervised) > 1


def test_a_stop_token_that_also_pads_is_learned() -> None:
    tokenizer = copy.deepcopy(tokenizer_of("chatml"))
    tokenizer.pad_token = tokenizer.eos_token
    (window,) = prepare_windows(TALK, tokenizer, max_length=128).windows
    assert (window.input_ids[-1], window.supervised[-1]) == (tokenizer.eos_token_id, True)


def test_an_end_of_turn_that_is_no_token_is_refused() -> None:
    tokenizer = tokenizer_with(CHATML_DEFAULT_SYSTEM, ("<|im_start|>",))
    with pytest.raises(TemplateUnsupported, match="no end-of-turn token"):
        prepare_windows(TALK, tokenizer, max_length=128)


@pytest.mark.parametrize("max_length", [64, 96, 160])
def test_an_answer_is_never_cut_off_at_the_right(max_length: int) -> None:
    answer = " ".join(f"word{index}" for index in range(200))
    session = session_of(user("Fix add"), agent(answer))
    prepared = prepare_windows(session, tokenizer_of("chatml"), max_length=max_length)
    assert "".join(said(prepared, tokenizer_of("chatml"))) == answer + "<|im_end|>"


def test_a_window_without_room_for_an_answer_is_refused() -> None:
    with pytest.raises(NothingToTrain, match="leaves no room"):
        prepare_windows(TALK, tokenizer_of("chatml"), max_length=16)
