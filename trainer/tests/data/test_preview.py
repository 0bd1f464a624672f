import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.data.preview import preview, spans
from imprint_trainer.data.windows import Window

from .families import tokenizer_of
from .sessions import agent, session_of, user


@pytest.mark.parametrize("name", ["chatml", "qwen3", "mistral", "gemma"])
def test_the_preview_has_the_numbers_of_the_training(name: str) -> None:
    talk = [step for index in range(12) for step in (user(f"Question {index}"), agent(f"Answer {index} 🎉."))]
    tokenizer = tokenizer_of(name)
    prepared = prepare_windows(session_of(*talk), tokenizer, max_length=128)
    shown = preview(prepared, tokenizer, max_steps=7)
    assert shown["max_steps"] == 7
    assert shown["windows"] == len(prepared.windows) == len(shown["text"])
    assert shown["tokens"] == sum(span["tokens"] for window in shown["text"] for span in window)
    assert shown["supervised_tokens"] == sum(
        span["tokens"] for window in shown["text"] for span in window if span["supervised"]
    )
    assert shown["supervised_turns"] == 12
    assert shown["dropped"] == [{"reason": one.reason, "count": one.count} for one in prepared.dropped]
    for window, texts in zip(prepared.windows, shown["text"], strict=True):
        assert "".join(span["text"] for span in texts) == tokenizer.decode(list(window.input_ids))


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
