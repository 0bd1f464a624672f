from typing import Any

import pytest

from data.families import tokenizer_of, tokenizer_with
from data.sessions import agent, reasons, said, session_of, shown, user
from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.errors import NothingToTrain, SessionUnsuccessful, TemplateUnsupported


def test_the_totals_are_those_of_the_windows() -> None:
    talk = [step for index in range(12) for step in (user(f"Question {index}"), agent(f"Answer {index}."))]
    prepared = prepare_windows(session_of(*talk), tokenizer_of("chatml"), max_length=128)
    assert len(prepared.windows) > 1
    assert prepared.tokens == sum(len(window.input_ids) for window in prepared.windows)
    assert prepared.supervised_tokens == sum(map(sum, (window.supervised for window in prepared.windows)))
    assert prepared.supervised_turns == 12


def test_the_same_request_gives_the_same_windows() -> None:
    session = session_of(user("Fix"), agent("I look.", ("bash", "{}", "x")), agent("Done."))
    assert prepare_windows(session, tokenizer_of("chatml"), max_length=128) == prepare_windows(
        session, tokenizer_of("chatml"), max_length=128
    )


def test_a_session_without_agent_turns_is_refused() -> None:
    with pytest.raises(NothingToTrain, match="no agent turn to learn from"):
        prepare_windows(session_of(user("Fix")), tokenizer_of("chatml"), max_length=128)


def test_the_refusal_says_why_turns_were_dropped() -> None:
    session = session_of(user("Fix"), agent("Try.", context_only="failed"))
    with pytest.raises(NothingToTrain, match=r"\(failed: 1\)"):
        prepare_windows(session, tokenizer_of("chatml"), max_length=128)


def test_a_session_that_only_greets_before_its_task_is_refused() -> None:
    with pytest.raises(NothingToTrain, match="no agent turn after its task"):
        prepare_windows(session_of(agent("Hello!"), user("Fix")), tokenizer_of("chatml"), max_length=128)


def test_an_unsuccessful_session_is_refused_before_the_tokenizer_is_looked_at() -> None:
    with pytest.raises(SessionUnsuccessful):
        prepare_windows(
            session_of(user("Fix"), agent("No."), outcome="failure"), tokenizer_with(None, ("<s>",)), max_length=128
        )


def test_a_tokenizer_without_a_template_is_refused() -> None:
    with pytest.raises(TemplateUnsupported, match="no chat template"):
        prepare_windows(session_of(user("Fix"), agent("Done.")), tokenizer_with(None, ("<s>",)), max_length=128)


def test_failed_steps_stay_as_context() -> None:
    session = session_of(user("Fix"), agent("Wrong.", context_only="failed"), user("1 failed"), agent("Right."))
    prepared = prepare_windows(session, tokenizer_of("chatml"), max_length=128)
    assert said(prepared, tokenizer_of("chatml")) == ["Right.<|im_end|>"]
    assert "Wrong.<|im_end|>\n<|im_start|>user\n1 failed" in shown(prepared, tokenizer_of("chatml"))[0]
    assert reasons(prepared) == {"failed": 1}


def test_a_duplicate_turn_is_context_the_second_time() -> None:
    session = session_of(user("Fix"), agent("Done."), user("Fix"), agent("Done."), user("So?"), agent("Yes."))
    prepared = prepare_windows(session, tokenizer_of("chatml"), max_length=256)
    assert said(prepared, tokenizer_of("chatml")) == ["Done.<|im_end|>", "Yes.<|im_end|>"]
    assert reasons(prepared) == {"duplicate_turn": 1}


def test_train_on_a_single_turn_ends_its_window_there() -> None:
    session = session_of(user("Fix"), agent("One."), user("More"), agent("Two."), user("More?"), agent("Three."))
    prepared = prepare_windows(session, tokenizer_of("chatml"), max_length=256, train_on=("turns", [3]))
    assert shown(prepared, tokenizer_of("chatml"))[0].endswith("assistant\nTwo.<|im_end|>")
    assert said(prepared, tokenizer_of("chatml")) == ["Two.<|im_end|>"]


def test_texts_are_tokenized_a_few_times_only(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer, read = tokenizer_of("qwen2_5"), []
    tokenize = type(tokenizer).__call__

    def spy(self: Any, text: str, **options: Any) -> Any:
        read.append(len(text))
        return tokenize(self, text, **options)

    monkeypatch.setattr(type(tokenizer), "__call__", spy)
    calls = [agent(f"Step {index}.", ("bash", "{}", f"line {index} " * 300)) for index in range(20)]
    session = session_of(user("Look at it all."), *calls)
    prepare_windows(session, tokenizer, max_length=1024)
    # As the template writes it, as it is cut, in a window, and what the windows repeat.
    assert sum(read) < 4 * sum(len(seen.content) for step in session.steps for seen in step.observations)
