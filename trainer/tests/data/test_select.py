import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.families import tokenizer_of
from data.sessions import agent, answers, session_json, session_of, user
from imprint_trainer.data.prepare import Prepared, Shared
from imprint_trainer.data.select import supervised_steps, turn_keys
from imprint_trainer.data.session import Session
from imprint_trainer.data.sessions import prepare_sessions
from imprint_trainer.errors import NothingToTrain, SessionUnsuccessful
from imprint_trainer.protocol import PreviewSpec

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


@pytest.mark.parametrize("reason", ["failed", "weight_zero", "aborted", "refused", "edited", "synthetic", "copied"])
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


WORDS = ("yes", "no", "the tests pass", "look at the file", "ok")


def spec_of(paths: list[Path], **changes: Any) -> PreviewSpec:
    data = {
        "session_paths": [str(path) for path in paths],
        "session_ids": [path.stem for path in paths],
        "base_model": "none",
        "profile": "remember",
        "holdout": "none",
        "max_length": 512,
        "include_unsuccessful": False,
        "train_on": "all",
        "reasoning": False,
        "epochs": None,
        "within": None,
        "rank": 2,
        "target_modules": None,
        "quantization": "none",
        "skip_invalid": True,
        "unreadable": [],
    }
    return PreviewSpec.model_validate(data | changes)


def prepared(folder: Path, recordings: list[list[dict[str, Any]]], **changes: Any) -> Prepared:
    paths = [folder / f"s{number}.json" for number in range(len(recordings))]
    for path, steps in zip(paths, recordings, strict=True):
        path.write_text(json.dumps(session_json(steps, session_id=path.stem)), encoding="utf-8")
    return prepare_sessions(spec_of(paths, **changes), tokenizer_of("qwen2_5"))


def learned(found: Prepared) -> list[tuple[str, int]]:
    return [(turn.session_id, turn.step) for turn in found.turns if turn.reason is None]


BEFORE = [user("Fix the price."), agent("I look.", ("bash", '{"command": "ls"}', "a.py")), agent("Fixed.")]
RESUMED = [*BEFORE, user("And the tests?"), agent("They pass.")]
FORKED = [*BEFORE, user("Undo it."), agent("Undone.")]


def test_a_resumed_recording_teaches_only_what_is_new(tmp_path: Path) -> None:
    found = prepared(tmp_path, [BEFORE, RESUMED, FORKED])
    assert learned(found) == [("s0", 1), ("s0", 2), ("s1", 4), ("s2", 4)]
    assert found.shared == (Shared("s1", "s0", 2), Shared("s2", "s0", 2))
    assert {one.reason: one.count for one in found.dropped} == {"shared_turn": 4}
    tokenizer = tokenizer_of("qwen2_5")
    # The shared turns still stand before what is new.
    assert ["Fixed." in tokenizer.decode(window.input_ids) for window in found.windows] == [True] * 3
    assert answers(found, tokenizer)[-1] == "Undone.<|im_end|>"


def test_a_recording_that_is_part_of_an_earlier_one_is_skipped_by_name(tmp_path: Path) -> None:
    found = prepared(tmp_path, [RESUMED, BEFORE])
    assert [(one.session_id, one.code) for one in found.skipped] == [("s1", "NOTHING_TO_TRAIN")]
    assert "Session s0 teaches 2 of its turns." in found.skipped[0].message


def test_a_turn_that_the_first_recording_does_not_teach_is_learned_from_the_second(tmp_path: Path) -> None:
    failed = [BEFORE[0], BEFORE[1], BEFORE[2] | {"context_only": "failed"}, *RESUMED[3:]]
    assert learned(prepared(tmp_path, [failed, FORKED])) == [("s0", 1), ("s0", 4), ("s1", 2), ("s1", 4)]


def test_the_last_answers_of_forks_are_chosen_before_shared_turns_are_left_out(tmp_path: Path) -> None:
    found = prepared(tmp_path, [BEFORE, RESUMED, [*BEFORE, user("Thanks.")]], train_on="final_answer")
    assert learned(found) == [("s0", 2), ("s1", 4)]
    assert [one.session_id for one in found.skipped] == ["s2"]


def test_the_same_words_after_another_history_are_another_turn(tmp_path: Path) -> None:
    asked = [[user(f"Is {number} a number?"), agent("ok")] for number in range(3)]
    assert learned(prepared(tmp_path, asked)) == [("s0", 1), ("s1", 1), ("s2", 1)]


def test_a_result_is_part_of_the_history_of_the_turns_after_its_call() -> None:
    other = [BEFORE[0], agent("I look.", ("bash", '{"command": "ls"}', "b.py")), BEFORE[2]]
    one, two = (turn_keys(session_of(*steps), reasoning=False) for steps in (BEFORE, other))
    assert [a == b for a, b in zip(one, two, strict=True)] == [True, True, False]


def test_ids_times_space_and_empty_turns_make_no_other_history() -> None:
    calls = agent("I look. ", ("bash", '{"command": "ls"}', "a.py\n"), timestamp="2026-01-01T00:00:00Z")
    calls["tool_calls"][0]["id"] = calls["observations"][0]["call_id"] = "other"
    copy = session_of(BEFORE[0], agent("", reasoning="Hm."), calls, BEFORE[2])
    assert turn_keys(copy, reasoning=False)[2:] == turn_keys(session_of(*BEFORE), reasoning=False)[1:]


def test_reasoning_makes_another_turn_where_it_is_learned() -> None:
    thought, silent = (session_of(user("Why?"), agent("So.", **more)) for more in ({"reasoning": "Hm."}, {}))
    assert turn_keys(thought, reasoning=False) == turn_keys(silent, reasoning=False)
    assert turn_keys(thought, reasoning=True) != turn_keys(silent, reasoning=True)


# Branches of one tree of conversations: each goes on from some turn of an earlier one.
BRANCHES = st.lists(
    st.tuples(st.integers(0, 99), st.integers(0, 99), st.lists(st.sampled_from(WORDS), max_size=4)),
    min_size=1,
    max_size=5,
)


@given(BRANCHES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_turn_of_forked_recordings_is_supervised_exactly_once(
    tmp_path: Path, branches: list[tuple[int, int, list[str]]]
) -> None:
    recordings: list[list[dict[str, Any]]] = [[user("Begin."), agent("I begin.")]]
    for number, (origin, kept, texts) in enumerate(branches):
        start = recordings[origin % len(recordings)]
        more = [step for at, text in enumerate(texts) for step in (user(f"{text}?"), agent(f"{text} {number}.{at}"))]
        recordings.append([*start[: 2 * (1 + kept % (len(start) // 2))], *more])
    found = prepared(tmp_path, recordings)
    keys = {f"s{number}": keys_of(steps) for number, steps in enumerate(recordings)}
    supervised = Counter(keys[session][step] for session, step in learned(found))
    spoken = {key for number, steps in enumerate(recordings) for key in keys[f"s{number}"][1 : len(steps) : 2]}
    assert supervised == Counter(spoken)
    assert sum(len(window.answers) for window in found.windows) == len(spoken)


def keys_of(steps: list[dict[str, Any]]) -> list[str]:
    """Every turn by the whole conversation up to it, spelled out."""
    return [json.dumps([step["text"] for step in steps[: index + 1]]) for index in range(len(steps))]


def test_sessions_without_common_turns_are_prepared_as_each_alone(tmp_path: Path) -> None:
    apart = [[user(f"Task {number}."), agent(f"Done {number}.")] for number in range(2)]
    together = prepared(tmp_path, apart)
    alone = [prepared(tmp_path, [steps], skip_invalid=False).windows for steps in apart]
    assert together.windows == (*alone[0], *alone[1])
    assert (together.shared, together.skipped) == ((), ())
