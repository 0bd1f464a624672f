from data.sessions import agent, session_of, user
from imprint_trainer.data.windows import Lesson, Window
from imprint_trainer.evaluation.held_out import text_before, with_text_before
from imprint_trainer.evaluation.measure import measure_loss
from imprint_trainer.models.causal_lm import LoadedBase

WINDOW = Window((1, 2, 3, 4), (False, False, True, True), (Lesson(1, 2),))


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
        (8, 9, 1, 2, 3, 4), (False, False, False, False, True, True), (Lesson(1, 4),)
    )
    assert with_text_before(WINDOW, (7, 8, 9), reach=4) == WINDOW
    assert with_text_before(WINDOW, (), reach=100) == WINDOW


def test_the_text_before_changes_the_loss_and_not_the_targets(base: LoadedBase) -> None:
    window = Window(tuple(range(20, 60)), (False,) * 20 + (True,) * 20)
    (alone,) = measure_loss(base.model, [window], base.device)
    (behind,) = measure_loss(base.model, [with_text_before(window, range(40, 60), 512)], base.device)
    assert alone.tokens == behind.tokens == 20
    assert alone.nll != behind.nll
