from collections import Counter
from typing import Any

import pytest

from imprint_trainer.data.select import supervised_steps
from imprint_trainer.data.session import Session
from imprint_trainer.errors import NothingToTrain, SessionUnsuccessful

from .sessions import agent, session_of, user

FAILED = agent("First try.", ("test", "{}", "1 failed"))
FAILED["observations"][0]["is_error"] = True


def chosen(session: Session, **options: Any) -> tuple[list[int], dict[str, int]]:
    steps, dropped = supervised_steps(
        session, **{"train_on": "all", "include_unsuccessful": False, "reasoning": False, **options}
    )
    return sorted(steps), dict(Counter(dropped.values()))


@pytest.mark.parametrize(
    ("train_on", "steps", "dropped"),
    [
        ("all", [1, 2, 4], {}),
        ("successful_steps", [2, 4], {"not_selected": 1}),
        ("final_answer", [4], {"not_selected": 2}),
        (("turns", [2]), [2], {"not_selected": 2}),
    ],
)
def test_train_on_selects_steps(train_on: Any, steps: list[int], dropped: dict[str, int]) -> None:
    session = session_of(user("Fix"), FAILED, agent("Second try."), user("Good"), agent("Done."))
    assert chosen(session, train_on=train_on) == (steps, dropped)


@pytest.mark.parametrize("index", [0, 7, -1])
def test_a_step_that_cannot_be_trained_is_refused_by_its_number(index: int) -> None:
    with pytest.raises(NothingToTrain, match=f"turn {index}, which is no turn of the session s1"):
        chosen(session_of(user("Fix"), agent("Done.")), train_on=("turns", [index]))


@pytest.mark.parametrize("reason", ["failed", "weight_zero", "aborted", "synthetic", "copied"])
def test_context_only_steps_are_not_supervised_and_counted(reason: str) -> None:
    session = session_of(user("Fix"), agent("Try.", context_only=reason), agent("Done."))
    assert chosen(session) == ([2], {reason: 1})


def test_a_failed_session_is_refused_unless_it_is_included() -> None:
    session = session_of(user("Fix"), agent("Done."), outcome="failure")
    with pytest.raises(SessionUnsuccessful, match="s1 ended in failure"):
        chosen(session)
    assert chosen(session, include_unsuccessful=True) == ([1], {})


def test_a_session_of_unknown_outcome_is_trained() -> None:
    assert chosen(session_of(user("Fix"), agent("Done."), outcome="unknown"))[0] == [1]


def test_the_same_answer_to_the_same_turn_is_supervised_once() -> None:
    session = session_of(user("Fix"), agent("Done."), user("Fix"), agent("Done."), user("Why"), agent("Done."))
    assert chosen(session) == ([1, 5], {"duplicate_turn": 1})


def test_a_turn_of_reasoning_alone_counts_only_with_reasoning() -> None:
    session = session_of(user("Fix"), agent("", reasoning="hm"), agent("Done."))
    assert chosen(session)[0] == [2]
    assert chosen(session, reasoning=True)[0] == [1, 2]
