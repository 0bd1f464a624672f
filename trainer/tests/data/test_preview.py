import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.families import tokenizer_of
from data.sessions import agent, session_of, user
from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.data.windows import Window
from imprint_trainer.jobs import preview as preview_module
from imprint_trainer.jobs.preview import preview, spans
from imprint_trainer.lora.steps import Steps


@pytest.mark.parametrize("name", ["chatml", "qwen3", "mistral", "gemma"])
def test_the_preview_has_the_numbers_of_the_training(name: str) -> None:
    talk = [step for index in range(12) for step in (user(f"Question {index}"), agent(f"Answer {index} 🎉."))]
    tokenizer = tokenizer_of(name)
    prepared = prepare_windows(session_of(*talk), tokenizer, max_length=128)
    shown = preview(prepared, tokenizer, steps=Steps(accumulation=1, per_epoch=7, max_epochs=2, tokens=900))
    assert (shown["max_steps"], shown["max_tokens"]) == (14, 2 * 900)
    assert shown["windows"] == len(prepared.windows) == len(shown["text"])
    assert shown["tokens"] == sum(span["tokens"] for window in shown["text"] for span in window)
    assert shown["supervised_tokens"] == sum(
        span["tokens"] for window in shown["text"] for span in window if span["supervised"]
    )
    assert shown["supervised_turns"] == 12
    assert shown["dropped"] == [{"reason": one.reason, "count": one.count} for one in prepared.dropped]
    for window, texts in zip(prepared.windows, shown["text"], strict=True):
        assert "".join(span["text"] for span in texts) == tokenizer.decode(list(window.input_ids))


def test_every_agent_turn_is_listed_with_the_reason_why_it_is_not_learned() -> None:
    session = session_of(
        agent("Hello!"),
        user("Fix"),
        agent("Wrong.", context_only="failed"),
        user("Again"),
        agent("I look.", ("bash", "{}", "x")),
        agent(""),
        agent("Done. " * 100),
    )
    tokenizer = tokenizer_of("chatml")
    prepared = prepare_windows(session, tokenizer, max_length=512, train_on="final_answer")
    found = preview(prepared, tokenizer, steps=Steps(1, 1, 1))["turns"]
    assert [(turn["turn"], turn["supervised"], turn["reason"]) for turn in found] == [
        (0, False, "not_selected"),
        (2, False, "failed"),
        (4, False, "not_selected"),
        (5, False, "empty_turn"),
        (6, True, None),
    ]
    assert found[2]["text"] == "I look. [bash]"
    assert len(found[4]["text"]) <= 200
    assert {turn["session_id"] for turn in found} == {"s1"}
    everything = prepare_windows(session, tokenizer, max_length=512)
    assert [turn.reason for turn in everything.turns] == ["before_task", "failed", None, "empty_turn", None]


def test_a_very_long_preview_shows_its_first_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    talk = [step for index in range(12) for step in (user(f"Question {index}"), agent(f"Answer {index}."))]
    tokenizer = tokenizer_of("chatml")
    prepared = prepare_windows(session_of(*talk), tokenizer, max_length=128)
    whole = preview(prepared, tokenizer, steps=Steps(1, 1, 1))
    monkeypatch.setattr(preview_module, "MOST_TEXT", sum(len(span["text"]) for span in whole["text"][0]))
    short = preview(prepared, tokenizer, steps=Steps(1, 1, 1))
    assert short == whole | {"text": whole["text"][:1]}


def test_a_window_too_long_to_show_shows_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = tokenizer_of("chatml")
    prepared = prepare_windows(session_of(user("Fix"), agent("word " * 200)), tokenizer, max_length=2048)
    monkeypatch.setattr(preview_module, "MOST_TEXT", 300)
    found = preview(prepared, tokenizer, steps=Steps(1, 1, 1))
    (window,) = found["text"]
    whole = tokenizer.decode(list(prepared.windows[0].input_ids))
    assert "".join(span["text"] for span in window) == whole[:300]
    assert found["text_left_out"] == len(whole) - 300
    assert sum(span["tokens"] for span in window) == prepared.tokens


def test_a_window_that_is_asked_for_is_shown_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    talk = [step for index in range(12) for step in (user(f"Question {index}"), agent(f"Answer {index}."))]
    tokenizer = tokenizer_of("chatml")
    prepared = prepare_windows(session_of(*talk), tokenizer, max_length=128)
    whole = preview(prepared, tokenizer, steps=Steps(1, 1, 1))["text"]
    for room in (10, sum(len(span["text"]) for window in whole[1:3] for span in window)):
        monkeypatch.setattr(preview_module, "MOST_TEXT", room)
        found = preview(prepared, tokenizer, steps=Steps(1, 1, 1), window=2)
        assert found["text"] == whole[1 : 2 if room == 10 else 3]
        assert (found["first_window"], "text_left_out" in found) == (2, False)
    assert preview(prepared, tokenizer, steps=Steps(1, 1, 1), window=len(whole) + 1)["text"] == []


def test_of_several_sessions_the_first_turns_are_listed_and_the_others_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    talk = [step for index in range(4) for step in (user(f"Question {index}"), agent(f"Answer {index}."))]
    tokenizer = tokenizer_of("chatml")
    one, other = (prepare_windows(session_of(*talk, session_id=name), tokenizer, max_length=512) for name in "ab")
    monkeypatch.setattr(preview_module, "MOST_TURNS", 5)
    both = preview(replace(one, turns=(*one.turns, *other.turns)), tokenizer, steps=Steps(1, 1, 1))
    assert (len(both["turns"]), both["turns_left_out"]) == (5, 3)
    monkeypatch.setattr(preview_module, "MOST_TURNS", 3)
    alone = preview(one, tokenizer, steps=Steps(1, 1, 1))
    assert len(alone["turns"]) == 4
    assert "turns_left_out" not in alone


def test_a_preview_of_many_long_sessions_is_half_a_megabyte_at_most() -> None:
    tokenizer = tokenizer_of("chatml")
    talk = [step for n in range(40) for step in (user(f"Question {n}"), agent(f"{n} " * 200))]
    part = prepare_windows(session_of(*talk), tokenizer, max_length=1024)
    turns = tuple(replace(turn, text="\n" * 200, session_id=f"s{n}") for n in range(100) for turn in part.turns)
    shown = preview(replace(part, windows=part.windows * 100, turns=turns), tokenizer, steps=Steps(1, 1, 1))
    assert len(json.dumps(shown)) < 500_000


@settings(max_examples=50)
@given(st.text(alphabet="a 🎉é\n", min_size=1, max_size=20), st.data())
def test_spans_join_to_the_window_wherever_the_mask_changes(text: str, data: st.DataObject) -> None:
    tokenizer = tokenizer_of("chatml")
    ids = tuple(tokenizer(text, add_special_tokens=False)["input_ids"])
    mask = tuple(data.draw(st.lists(st.booleans(), min_size=len(ids), max_size=len(ids))))
    found = spans(Window(ids, mask), tokenizer)
    assert "".join(span["text"] for span in found) == tokenizer.decode(list(ids))
    assert [span["tokens"] for span in found if span["supervised"]] or not any(mask)
    assert sum(span["tokens"] for span in found if span["supervised"]) == sum(mask)
