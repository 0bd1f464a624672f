import json
from pathlib import Path
from typing import Any

import pytest

from data.sessions import agent, session_json, session_of, user
from imprint_trainer.data.windows import Answer, Window
from imprint_trainer.errors import NothingToEvaluate
from imprint_trainer.evaluation.held_out import Split, split, text_before, trained_turns, turn_keys, with_text_before
from imprint_trainer.lora.loss import token_losses
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.protocol import StagedSession

TALK = [user("Fix it."), agent("I look."), user("And?"), agent("It is fixed."), user("Test it."), agent("Green.")]


@pytest.fixture
def stored(tmp_path: Path) -> Any:
    def store(session_id: str, steps: list[dict[str, Any]], **changes: Any) -> StagedSession:
        path = tmp_path / f"{session_id}.json"
        path.write_text(json.dumps(session_json(steps, session_id=session_id, **changes)))
        return StagedSession(session_id=session_id, path=str(path))

    return store


def parted(base: LoadedBase, sessions: list[StagedSession], *trained: list[dict[str, Any]]) -> Split:
    read = [session_of(*steps, session_id=f"t{number}") for number, steps in enumerate(trained)]
    return split(sessions, trained_turns(read), base.tokenizer, max_length=256, reasoning=False)


def test_a_turn_that_was_trained_on_is_not_tested(base: LoadedBase, stored: Any) -> None:
    trained = [user("Something else."), agent("Sure."), user("And?"), agent("It is fixed.")]
    (tested,) = parted(base, [stored("s1", TALK)], trained).tested
    assert tested.dropped_turns == 1
    assert [answer.step for window in tested.windows for answer in window.answers] == [1, 5]
    (whole,) = parted(base, [stored("s1", TALK)]).tested
    assert (whole.dropped_turns, len(whole.windows[0].answers)) == (0, 3)


def test_the_same_words_in_answer_to_others_are_tested(base: LoadedBase, stored: Any) -> None:
    (tested,) = parted(base, [stored("s1", TALK)], [user("Is it?"), agent("It is fixed.")]).tested
    assert tested.dropped_turns == 0


def test_ids_of_calls_and_reasoning_do_not_make_another_turn() -> None:
    one, other = agent("", ("ls", "{}", "a.py")), agent("", ("ls", "{}", "a.py"), reasoning="Hm.")
    other["tool_calls"][0]["id"] = other["observations"][0]["call_id"] = "another"
    assert turn_keys(session_of(user("Go."), one)) == turn_keys(session_of(user("Go."), other))


def test_a_session_is_skipped_when_more_than_half_of_it_stands_in_one_that_was_trained_on(
    base: LoadedBase, stored: Any
) -> None:
    other = stored("s2", [user("Another task."), agent("Done.")])
    found = parted(base, [stored("s1", TALK), other], [user("?"), agent("!")], [*TALK[:4]])
    assert [one.session_id for one in found.tested] == ["s2"]
    assert [(one.session_id, one.near_copy_of, one.dropped_turns, one.windows) for one in found.copies] == [
        ("s1", "t1", 2, ())
    ]
    assert [(one.session_id, one.code) for one in found.skipped] == [("s1", "SESSION_TRAINED_ON")]
    assert "t1" in found.skipped[0].message
    half = [user("Fix it."), agent("I look."), user("Thanks."), agent("Welcome.")]
    assert parted(base, [stored("s3", half)], TALK).tested[0].dropped_turns == 1


def test_a_turn_that_two_tested_sessions_share_counts_once(base: LoadedBase, stored: Any) -> None:
    longer = [*TALK, user("Commit."), agent("Committed.")]
    first, second = parted(base, [stored("s1", TALK), stored("s2", longer)]).tested
    assert [answer.step for window in second.windows for answer in window.answers] == [7]
    assert second.dropped_turns == first.dropped_turns == 0


def test_sessions_that_cannot_be_rendered_are_named(base: LoadedBase, stored: Any, tmp_path: Path) -> None:
    (tmp_path / "torn.json").write_text("{")
    torn = StagedSession(session_id="torn", path=str(tmp_path / "torn.json"))
    failed = stored("failed", TALK, outcome="failure")
    found = parted(base, [torn, failed, stored("s1", TALK)])
    assert [(one.session_id, one.code) for one in found.skipped] == [
        ("torn", "SESSION_INVALID"),
        ("failed", "SESSION_UNSUCCESSFUL"),
    ]
    with pytest.raises(NothingToEvaluate, match=r"No session is left.*failed.*t0") as caught:
        parted(base, [failed, stored("s1", TALK)], TALK)
    assert str(tmp_path) not in caught.value.message


WINDOW = Window((1, 2, 3, 4), (False, False, True, True), (Answer(1, 2),))


def test_the_newest_text_of_the_newest_session_stands_last(base: LoadedBase) -> None:
    old = session_of(user("Old question?"), agent("Old answer."))
    new = session_of(user("New question?"), agent("New answer."))
    text = base.tokenizer.decode(text_before([old, new], base.tokenizer, max_length=256, reasoning=False))
    assert text.index("Old answer.") < text.index("New question?") < text.index("New answer.")


def test_no_more_text_is_taken_than_asked_for(base: LoadedBase) -> None:
    talk = [step for n in range(200) for step in (user(f"Question {n}?"), agent(f"Answer {n} of many."))]
    found = text_before([session_of(*talk)], base.tokenizer, max_length=256, reasoning=False)
    assert len(found) == 2048
    assert "Answer 199 of many." in base.tokenizer.decode(found)


def test_a_session_that_cannot_be_rendered_gives_no_text(base: LoadedBase) -> None:
    assert text_before([session_of(agent("No task."))], base.tokenizer, max_length=256, reasoning=False) == ()


def test_a_window_keeps_its_targets_behind_what_the_context_has_room_for() -> None:
    assert with_text_before(WINDOW, (7, 8, 9), reach=6) == Window(
        (8, 9, 1, 2, 3, 4), (False, False, False, False, True, True), (Answer(1, 4),)
    )
    assert with_text_before(WINDOW, (7, 8, 9), reach=4) == WINDOW
    assert with_text_before(WINDOW, (), reach=100) == WINDOW


def test_the_text_before_changes_the_loss_and_not_the_targets(base: LoadedBase) -> None:
    window = Window(tuple(range(20, 60)), (False,) * 20 + (True,) * 20)
    alone, _ = token_losses(base.model, window, base.device)
    behind, _ = token_losses(base.model, with_text_before(window, range(40, 60), 512), base.device)
    assert len(alone) == len(behind) == 20
    assert float(alone.sum()) != float(behind.sum())
