from typing import Any

import pytest

from data.sessions import agent, session_of, user
from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.privacy.question import place_of, question_of

WRITTEN, READ = "kQ7zR2mX9p", "wT4vB8nJ1c"


@pytest.fixture
def windows(base: LoadedBase) -> Any:
    session = session_of(
        user("Set the key."),
        agent("I look.", ("bash", '{"command": "cat .env"}', f"A=1\nTOKEN={READ}\nB=2")),
        user("And now?"),
        agent(f'Done:\nexport API_KEY="{WRITTEN}"\nThat is all.'),
    )
    return prepare_windows(session, base.tokenizer, max_length=512).windows


def test_a_value_is_found_with_what_stands_around_it(base: LoadedBase, windows: Any) -> None:
    place = place_of(WRITTEN, windows, base.tokenizer)
    assert place is not None
    assert place.before.endswith('\nexport API_KEY="')
    assert place.before.startswith("<|im_start|>user\nSet the key.")
    assert (place.after, place.supervised) == ('"\n', True)


def test_what_is_only_read_is_not_learned(base: LoadedBase, windows: Any) -> None:
    place = place_of(READ, windows, base.tokenizer)
    assert place is not None
    assert (place.after, place.supervised) == ("\n", False)


def test_a_value_that_was_cut_away_has_no_place(base: LoadedBase, windows: Any) -> None:
    assert place_of("hG5fD3sA6l", windows, base.tokenizer) is None


def test_the_question_is_the_window_itself_and_all_answers_follow_one_prompt(base: LoadedBase, windows: Any) -> None:
    place = place_of(WRITTEN, windows, base.tokenizer)
    assert place is not None
    values = [WRITTEN, "aaaaaaaaaa", "the agent "]
    question = question_of(place, values, base.tokenizer)
    window = next(window for window in windows if WRITTEN in base.tokenizer.decode(list(window.input_ids)))
    whole = (*question.prompt, *question.answers[0])
    assert window.input_ids[: len(whole)] == whole
    for value, answer in zip(values, question.answers, strict=True):
        assert base.tokenizer.decode(list(question.prompt + answer)) == place.before + value
