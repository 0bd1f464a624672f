"""What is held out stands in no window that is trained, and nothing is lost between both sides."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.families import tokenizer_of
from data.sessions import agent, session_json, user
from data.test_select import spec_of
from imprint_trainer.data.holdout import MEASURED, SMALLEST_PART, last_part, sampled
from imprint_trainer.data.prepare import Prepared
from imprint_trainer.data.sessions import prepare_sessions, sizes
from imprint_trainer.data.windows import Answer, Window

TOKENIZER = "qwen2_5"
WORDS = ["alpha", "bravo", "carbon", "delta", "ember", "fjord", "gamma", "harbor", "island", "jungle"]


def talk(name: str, turns: int, words: int = 12) -> list[dict[str, Any]]:
    """Turns of an agent, each with a text of its own, some with a call."""
    source = random.Random(name)
    steps: list[dict[str, Any]] = [user(f"Please work on {name}.")]
    for turn in range(turns):
        text = f"{name} turn {turn}: " + " ".join(source.choices(WORDS, k=words)) + "."
        call = ("bash", json.dumps({"command": f"run {name} {turn}"}), f"output of {name} {turn}")
        steps += [agent(text, call)] if turn % 3 else [agent(text), user(f"Go on with {name}, part {turn}.")]
    return steps


def prepared(
    folder: Path, *recordings: list[dict[str, Any]], days: list[int] | None = None, **changes: Any
) -> Prepared:
    paths = [folder / f"s{number}.json" for number in range(len(recordings))]
    for number, (path, steps) in enumerate(zip(paths, recordings, strict=True)):
        started = f"2026-01-{(days or list(range(1, 29)))[number]:02d}T00:00:00Z"
        path.write_text(json.dumps(session_json(steps, session_id=path.stem, started_at=started)), encoding="utf-8")
    return prepare_sessions(spec_of(paths, **changes), tokenizer_of(TOKENIZER))


def decoded(windows: list[Window]) -> list[str]:
    return [tokenizer_of(TOKENIZER).decode(list(window.input_ids)) for window in windows]


def turns(found: Prepared, reason: str | None) -> set[tuple[str, int]]:
    return {(turn.session_id, turn.step) for turn in found.turns if turn.reason == reason}


def texts(recordings: list[list[dict[str, Any]]], places: set[tuple[str, int]]) -> set[str]:
    return {recordings[int(session_id[1:])][step]["text"] for session_id, step in places}


def check_split(found: Prepared, whole: Prepared, recordings: list[list[dict[str, Any]]]) -> None:
    """The rule that everything else serves."""
    held, shared, taught = turns(found, "held_out"), turns(found, "held_out_shared"), turns(found, None)
    assert texts(recordings, taught | held | shared) >= texts(recordings, turns(whole, None))
    assert not texts(recordings, taught) & texts(recordings, held)
    trained = decoded(list(found.windows))
    for text in texts(recordings, held):
        assert not any(text in window for window in trained)
    tested = {
        (session_id, answer.step)
        for session_id, window in (found.held_out.windows if found.held_out else ())
        for answer in window.answers
    }
    assert tested <= held


@settings(max_examples=12)
@given(data=st.data())
def test_no_held_out_turn_stands_in_a_trained_window_and_no_turn_is_lost(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    count = data.draw(st.integers(1, 6))
    recordings = [talk(f"n{number}", data.draw(st.integers(1, 6))) for number in range(count)]
    for number in range(1, count):
        if data.draw(st.booleans()):  # resumes or forks an earlier one
            original = recordings[data.draw(st.integers(0, number - 1))]
            recordings[number] = [*original[: data.draw(st.integers(2, len(original)))], *recordings[number]]
        elif data.draw(st.booleans()):  # says the same elsewhere
            recordings[number].append(recordings[0][1])
    if data.draw(st.booleans()):
        recordings[-1] += talk("long", 90, words=30)
    days = data.draw(st.permutations(range(1, count + 1)))
    holdout = data.draw(st.sampled_from(["auto", 0.1, 0.5, ["s0"]][: 3 if count == 1 else 4]))
    folder = tmp_path_factory.mktemp("split")
    found = prepared(folder, *recordings, days=days, holdout=holdout, max_length=512)
    check_split(found, prepared(folder, *recordings, days=days, max_length=512), recordings)


def test_of_several_sessions_the_newest_are_held_out(tmp_path: Path) -> None:
    recordings = [talk(f"n{number}", 2) for number in range(10)]
    found = prepared(tmp_path, *recordings, days=[3, 9, 1, 2, 4, 10, 5, 6, 7, 8], holdout="auto")
    assert found.held_out is not None
    assert found.held_out.sessions == ("s1", "s5")
    assert found.remarks[-1].startswith("The profile remember")
    three = prepared(tmp_path, *recordings[:3], holdout="auto").held_out
    assert three is not None
    assert three.sessions == ("s2",)
    half = prepared(tmp_path, *recordings, holdout=0.5).held_out
    assert half is not None
    assert half.sessions == ("s5", "s6", "s7", "s8", "s9")


def test_a_resumed_recording_stands_on_the_side_of_its_original(tmp_path: Path) -> None:
    old, middle, newest = talk("old", 3), talk("middle", 3), talk("newest", 3)
    recordings = [old, middle, newest, [*old, *talk("more", 2)]]
    found = prepared(tmp_path, *recordings, holdout="auto")
    assert found.held_out is not None
    assert found.held_out.sessions == ("s2",)
    check_split(found, prepared(tmp_path, *recordings), recordings)


def test_turns_that_both_sides_say_are_no_test(tmp_path: Path) -> None:
    again = agent("I list the files.", ("bash", '{"command": "ls"}', "a.py"))
    recordings = [[*talk(f"n{number}", 2), user("And?"), again] for number in range(3)]
    found = prepared(tmp_path, *recordings, holdout=["s2"])
    assert len(turns(found, "held_out")) == 2
    assert turns(found, "held_out_shared") == {("s2", len(recordings[2]) - 1)}
    assert {one.reason: one.count for one in found.dropped}.items() >= {"held_out": 2, "held_out_shared": 1}.items()


def test_of_a_long_session_the_last_part_is_held_out_under_what_stands_before_it(tmp_path: Path) -> None:
    steps = talk("long", 90, words=30)
    whole = prepared(tmp_path, steps, max_length=2048)
    found = prepared(tmp_path, steps, holdout="auto", max_length=2048)
    assert found.held_out is not None
    held = sorted(step for _, step in turns(found, "held_out"))
    taught = sorted(step for _, step in turns(found, None))
    assert taught[-1] < held[0]
    share = 1 - found.supervised_tokens / whole.supervised_tokens
    assert 0.15 < share < 1 / 3
    assert whole.supervised_tokens - found.supervised_tokens >= SMALLEST_PART
    before = decoded([window for _, window in found.held_out.windows])
    assert any(steps[taught[-1]]["text"] in text for text in before)
    said = sizes(found, 2)["held_out"]
    assert (said["sessions"], said["whole"]) == (["s0"], False)
    assert said["supervised_tokens"] == sum(window.supervised_count for _, window in found.held_out.windows)


def test_of_a_short_session_nothing_is_held_out_and_the_plan_says_so(tmp_path: Path) -> None:
    steps = talk("short", 6)
    found = prepared(tmp_path, steps, holdout="auto", profile="learn")
    assert (found.held_out, sizes(found, 2)["held_out"]) == (None, None)
    assert found.windows == prepared(tmp_path, steps).windows
    (remark,) = found.remarks
    assert "not measured" in remark


def lessons(*tokens: int) -> list[Window]:
    return [Window((0,) * (n + 1), (False, *(True,) * n), (Answer(step, 1),)) for step, n in enumerate(tokens)]


@pytest.mark.parametrize(
    ("tokens", "share", "start"),
    [
        ((500,) * 4, 0.2, None),  # too short
        ((2000, 600), 0.2, 1),
        ((2000, 511), 0.2, None),
        ((500, 500, 2000), 0.2, None),  # its last turn is more than a third
        ((1000,) * 10, 0.2, 8),
        ((1000,) * 10, 0.5, 5),
    ],
)
def test_the_last_part_begins_at_a_turn(tokens: tuple[int, ...], share: float, start: int | None) -> None:
    assert last_part(lessons(*tokens), share) == start


def test_the_sample_is_spread_over_sessions_and_the_same_each_time() -> None:
    sessions = [(f"s{number}", lessons(*(400,) * 30)) for number in range(5)]
    found = sampled(sessions)
    assert found == sampled(sessions)
    assert {session_id for session_id, _ in found} == {name for name, _ in sessions}
    assert MEASURED <= sum(window.supervised_count for _, window in found) < MEASURED + 400
