import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.families import family, tokenizer_of
from data.sessions import agent, changes, reasons, said, secrets_in, session_of, shown, system, user
from imprint_trainer.data.prepare import Prepared, prepare_windows
from imprint_trainer.errors import NothingToTrain

TASK = "TASK: fix it"
WORDS = st.lists(
    st.sampled_from(["the", "test", "fails\n", "🎉", "in", "<|im_end|>", "a.py", "x" * 40]), max_size=60
).map(" ".join)


@st.composite
def steps(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Turns of all kinds; each agent turn is told apart by its number."""
    found: list[dict[str, Any]] = []
    for index in range(draw(st.integers(1, 12))):
        text = f"Turn {index}: {draw(WORDS)}".strip()
        match draw(st.sampled_from(["user", "say", "call", "call", "call", "failed"])):
            case "user":
                found.append(user(text))
            case "say":
                found.append(agent(text))
            case "call":
                results = draw(st.lists(WORDS, min_size=1, max_size=2))
                calls = [("bash", f'{{"n": {index}, "m": {place}}}', words) for place, words in enumerate(results)]
                found.append(agent(text, *calls))
            case "failed":
                found.append(agent(text, ("bash", "{}", draw(WORDS)), context_only="failed"))
    return [*found, agent("The end.")]


def words_of(step: dict[str, Any]) -> str:
    blocks = [
        f'<tool_call>\n{{"name": "{call["name"]}", "arguments": {call["arguments"]}}}\n</tool_call>'
        for call in step.get("tool_calls", ())
    ]
    return "\n".join([step["text"], *blocks])


def latest_request(talk: list[dict[str, Any]], step: int) -> str:
    """How the request before a step begins, as a pattern; the task is step 0."""
    asked = [one["text"] for one in talk[: step - 1] if one["source"] == "user"]
    return asked[-1].partition(":")[0] + r"\b" if asked else TASK


def differ(prepared: Prepared) -> bool:
    """Whether no two turns are taught after the same prompt; parts of one turn may repeat themselves."""
    taught = {
        (window.input_ids[: answer.start], answer.step) for window in prepared.windows for answer in window.answers
    }
    return len({prompt for prompt, _ in taught}) == len(taught)


def turns(window: str, end: str) -> list[str]:
    return [turn.strip() for turn in re.split(r"<\|im_start\|>|<start_of_turn>", window)[1:]]


@settings(max_examples=600)
@given(steps(), st.integers(240, 480), st.sampled_from(["chatml", "gemma", "qwen2_5"]))
def test_windows_of_any_session(talk: list[dict[str, Any]], max_length: int, name: str) -> None:
    tokenizer, end = tokenizer_of(name), family(name).end
    prepared = prepare_windows(session_of(user(TASK), *talk), tokenizer, max_length=max_length)
    learned = [step for step in talk if step["source"] == "agent" and "context_only" not in step]
    assert prepared.supervised_turns == len(learned)
    # Each supervised turn exactly once, in order, whole and ended; parts of a long answer join without a seam.
    assert "".join(said(prepared, tokenizer)) == "".join(words_of(step) + end for step in learned)
    for window, text in zip(prepared.windows, shown(prepared, tokenizer), strict=True):
        assert len(window.input_ids) == len(window.supervised) <= max_length
        assert window.supervised[-1]
        assert TASK in text
        (first, *_) = window.answers
        assert re.search(latest_request(talk, first.step), tokenizer.decode(window.input_ids[: first.start]))
        parts = turns(text, end)
        for before, part in zip(parts, parts[1:], strict=False):
            assert "<tool_response>" not in part or "<tool_call>" in before
    assert differ(prepared)


@settings(max_examples=40)
@given(steps(), st.integers(440, 640), st.sampled_from(["qwen3", "gptoss", "mistral", "phi3"]))
def test_windows_of_templates_that_rewrite_history(talk: list[dict[str, Any]], max_length: int, name: str) -> None:
    tokenizer = tokenizer_of(name)
    prepared = prepare_windows(session_of(user(TASK), *talk), tokenizer, max_length=max_length)
    everything = "".join(said(prepared, tokenizer))
    for step in talk:
        if step["source"] == "agent":
            assert everything.count(step["text"]) == ("context_only" not in step)
    for window, text in zip(prepared.windows, shown(prepared, tokenizer), strict=True):
        assert len(window.input_ids) <= max_length
        assert TASK in text
        (first, *_) = window.answers
        assert re.search(latest_request(talk, first.step), tokenizer.decode(window.input_ids[: first.start]))
    assert differ(prepared)


def windows_of(*talk: dict[str, Any], max_length: int, name: str = "chatml", **more: Any) -> Prepared:
    return prepare_windows(session_of(*talk, **more), tokenizer_of(name), max_length=max_length)


@pytest.mark.parametrize("name", ["chatml", "qwen2_5", "gemma"])
def test_a_session_that_just_fits_is_one_window_without_a_cut(name: str) -> None:
    talk = (user(TASK), agent("I look.", ("bash", "{}", "word " * 60)), user("Well?"), agent("Done."))
    roomy = windows_of(*talk, max_length=4096, name=name)
    tight = windows_of(*talk, max_length=roomy.tokens + 2, name=name)  # the newline after the last turn is measured too
    assert tight == replace(roomy, max_length=tight.max_length)
    assert len(tight.windows) == 1
    assert "tool_output_shortened" not in changes(tight)


def test_an_over_long_output_loses_its_middle_and_says_how_much() -> None:
    output = "begin " + "filler " * 300 + "end"
    prepared = windows_of(user(TASK), agent("I look.", ("bash", "{}", output)), agent("Done."), max_length=200)
    (text,) = shown(prepared, tokenizer_of("chatml"))
    start, cut, end = re.search(
        r"<tool_response>\n(.*)\n\[\.\.\. (\d+) characters cut \.\.\.]\n(.*)\n</tool_resp", text, re.S
    ).groups()
    assert start.startswith("begin filler")
    assert end.endswith("filler end")
    assert len(start) + int(cut) + len(end) == len(output)
    assert changes(prepared) == {"tool_syntax_as_text": 1, "tool_output_shortened": 1}
    assert len(prepared.windows[0].input_ids) > 150


def test_an_over_long_answer_is_split_and_ends_once() -> None:
    answer = "".join(f"line {index} 🎉\n" for index in range(200)).strip()
    prepared = windows_of(user(TASK), agent(answer), agent("Done."), max_length=200)
    tokenizer = tokenizer_of("chatml")
    parts = said(prepared, tokenizer)
    assert "".join(parts) == answer + "<|im_end|>Done.<|im_end|>"
    assert all(TASK in text for text in shown(prepared, tokenizer))
    assert [part.endswith("<|im_end|>") for part in parts] == [False] * (len(parts) - 2) + [True, True]
    assert changes(prepared) == {"answer_split": 1}
    # What precedes a part is context: the model sees where it stands in its answer.
    for before, text, part in zip(parts, shown(prepared, tokenizer)[1:-1], parts[1:-1], strict=False):
        assert text.removesuffix(part).endswith(before[-20:])


def test_over_long_task_and_system_text_lose_their_middle() -> None:
    prepared = windows_of(
        system("rules " * 300), user(TASK + " word" * 300), agent("Done."), agent("So."), max_length=200
    )
    (text,) = shown(prepared, tokenizer_of("chatml"))
    assert text.count("characters cut") == 2
    assert TASK in text
    assert changes(prepared) == {"task_shortened": 1, "system_shortened": 1}


def test_an_over_long_later_question_loses_its_middle() -> None:
    prepared = windows_of(user(TASK), agent("One."), user("word " * 400), agent("Two."), max_length=200)
    assert changes(prepared) == {"user_text_shortened": 1}
    assert said(prepared, tokenizer_of("chatml")) == ["One.<|im_end|>", "Two.<|im_end|>"]


def test_a_tool_list_that_does_not_fit_keeps_the_tools_that_were_called() -> None:
    tools = [{"name": f"tool_{index}", "description": "does " * 30} for index in range(20)]
    talk = (user(TASK), agent("", ("tool_7", "{}", "ok")), agent("Done."))
    prepared = windows_of(*talk, max_length=700, name="qwen2_5", tools=tools)
    (text,) = shown(prepared, tokenizer_of("qwen2_5"))
    assert '"name": "tool_7"' in text
    assert "tool_8" not in text
    assert changes(prepared) == {"tools_shortened": 1}


def test_a_window_too_small_for_any_answer_is_refused_with_a_number() -> None:
    with pytest.raises(NothingToTrain, match=r"max_length 64 leaves no room .* raise it to \d+ or more"):
        windows_of(system("x" * 50), user("y" * 200), agent("Done." * 40), max_length=64, name="gptoss")


def test_context_that_fits_no_window_is_counted() -> None:
    prepared = windows_of(
        user(TASK), agent("One."), agent("try " * 400, context_only="failed"), agent("Two."), max_length=200
    )
    assert said(prepared, tokenizer_of("chatml")) == ["One.<|im_end|>", "Two.<|im_end|>"]
    assert reasons(prepared) == {"context_left_out": 1, "failed": 1}


def test_nothing_after_the_last_supervised_token_is_kept() -> None:
    prepared = windows_of(user(TASK), agent("Done."), user("Thanks"), max_length=200)
    assert shown(prepared, tokenizer_of("chatml"))[0].endswith("Done.<|im_end|>")


def test_parts_of_a_monotonous_answer_are_all_kept() -> None:
    prepared = windows_of(user(TASK), agent("x" * 2000), max_length=200)
    assert "".join(said(prepared, tokenizer_of("chatml"))) == "x" * 2000 + "<|im_end|>"


def test_each_window_holds_the_request_that_its_first_answer_answers() -> None:
    work = [agent(f"Step {index}: " + "word " * 30) for index in range(8)]
    talk = (user(TASK), *work, user("NOW: add a Pause button"), *work_on("Pause", 8))
    prepared = windows_of(*talk, max_length=360)
    prompts = [
        tokenizer_of("chatml").decode(window.input_ids[: window.answers[0].start])
        for window in prepared.windows
        if window.answers[0].step > 9
    ]
    assert len(prompts) > 3
    for prompt in prompts:
        assert prompt.index(TASK) < prompt.index("NOW: add a Pause button") < prompt.rindex("<|im_start|>assistant")
        assert re.search(r"\[\.\.\. \d+ turns left out \.\.\.]", prompt)


def work_on(what: str, turns: int) -> list[dict[str, Any]]:
    return [agent(f"{what} {index}: " + "word " * 30) for index in range(turns)]


def test_skipped_turns_are_counted_where_they_are_missing() -> None:
    long = "try " * 150
    prepared = windows_of(user(TASK), agent("One."), agent(long, context_only="failed"), agent("Two."), max_length=200)
    first, second = shown(prepared, tokenizer_of("chatml"))
    assert "left out" not in first
    mark = f"{TASK}<|im_end|>\n<|im_start|>user\n[... 2 turns left out ...]<|im_end|>\n"
    assert f"{mark}<|im_start|>assistant\nTwo." in second
    talk = (user(TASK), *work_on("Part", 4), user("NOW: stop"), agent("word " * 60))
    *_, text = shown(windows_of(*talk, max_length=280), tokenizer_of("chatml"))
    assert "turns left out ...]\n\nNOW: stop<" in text


@pytest.mark.parametrize("name", ["mistral", "gemma"])
def test_what_is_skipped_is_said_in_templates_that_alternate(name: str) -> None:
    prepared = windows_of(
        user(TASK), *work_on("Part", 6), user("NOW: stop"), *work_on("End", 6), max_length=360, name=name
    )
    texts = shown(prepared, tokenizer_of(name))
    assert sum("NOW: stop" in text for text in texts) > 2
    assert all(TASK in text and ("left out" in text) == (index > 0) for index, text in enumerate(texts))


def test_a_long_request_is_brought_along_without_its_middle() -> None:
    asked = "NOW: " + "please " * 200 + "thanks"
    prepared = windows_of(user(TASK), user(asked), *work_on("Part", 6), max_length=360)
    last = shown(prepared, tokenizer_of("chatml"))[-1]
    assert re.search(
        r"NOW: please .*\n\[\.\.\. \d+ characters cut \.\.\.]\n.* thanks\n\n\[\.\.\. \d+ turns? left", last, re.S
    )
    assert changes(prepared)["request_shortened"] >= 1


def test_what_stands_for_a_secret_is_no_target() -> None:
    key = "<SECRET:aws-key-2>"
    call = ("bash", f'{{"command": "export KEY={key}"}}', "ok")
    for name in ("chatml", "qwen2_5", "gptoss"):
        prepared = windows_of(
            user(f"Use {key}"), agent(f"I set {key} now.", call), agent("Done."), max_length=512, name=name
        )
        assert not any("SECRET" in text for text in said(prepared, tokenizer_of(name)))
        assert [text.strip(' ="') for text in secrets_in(prepared, tokenizer_of(name))] == [key, key]
        assert changes(prepared)["secret_not_supervised"] == 2


def test_a_part_of_a_long_answer_has_no_secret_as_target() -> None:
    answer = "".join(f"line {index} <SECRET:password>\n" for index in range(80))
    prepared = windows_of(user(TASK), agent(answer), max_length=240)
    assert len(prepared.windows) > 3
    assert not any("SECRET" in text for text in said(prepared, tokenizer_of("chatml")))
    assert "".join(said(prepared, tokenizer_of("chatml"))).count("line") == 80


FILE = "".join(f"{n:6}\u2192value_{n} = {n}\n" for n in range(1, 200))


def edit_of(line: int) -> dict[str, Any]:
    arguments = {"file_path": "a.py", "old_string": f"value_{line} = {line}", "new_string": f"value_{line} = 0"}
    return agent("", ("Edit", json.dumps(arguments), "ok"))


def test_a_long_output_keeps_what_a_later_edit_replaces() -> None:
    talk = (user(TASK), agent("I look.", ("Read", "{}", FILE)), edit_of(117), agent("Done."))
    prepared = windows_of(*talk, max_length=512)
    assert "edit_target_cut" not in reasons(prepared)
    assert "\n   117\u2192value_117 = 117\n" in shown(prepared, tokenizer_of("chatml"))[0]
    assert changes(prepared)["tool_output_shortened"] == 1


def test_a_turn_before_a_long_answer_is_kept_with_less_of_its_output() -> None:
    long = agent("word " * 150, context_only="failed")
    look = agent("I look.", ("Read", "{}", "one line\n" * 16), context_only="failed")
    prepared = windows_of(user(TASK), long, look, agent("word " * 60), max_length=480)
    (text,) = shown(prepared, tokenizer_of("chatml"))
    assert changes(prepared)["context_shortened"] == 1
    assert "1 turn left out" in text
    assert re.search(r"I look.*characters cut", text, re.S)


def test_a_window_brings_along_what_an_edit_replaces() -> None:
    talk = (user(TASK), agent("I look.", ("Read", "{}", FILE)), *work_on("Thought", 12), edit_of(117), agent("Done."))
    prepared = windows_of(*talk, max_length=800)
    assert "edit_target_cut" not in reasons(prepared)
    assert changes(prepared)["edit_target_excerpted"] == 1
    text = next(text for text in shown(prepared, tokenizer_of("chatml")) if "value_117 = 0" in text)
    kept = re.search(r"\d+ turns left out \.\.\.]\n\n\[\.\.\. from an earlier turn \.\.\.]\n(.*?)<\|im_end", text, re.S)
    assert "\n   113\u2192value_113 = 113\n" in kept[1]
    assert "\n   121\u2192value_121 = 121\n" in kept[1]
    assert "value_122" not in kept[1]


def test_what_an_edit_replaces_of_an_earlier_call_is_brought_along() -> None:
    write = agent("", ("Write", json.dumps({"content": "a = 1\nb = 2\n"}), "ok"))
    edit = agent("", ("Edit", json.dumps({"old_string": "a = 1\nb = 2", "new_string": "a = 2"}), "ok"))
    for name in ("chatml", "qwen2_5"):
        prepared = windows_of(user(TASK), write, *work_on("Thought", 8), edit, max_length=480, name=name)
        assert "from an earlier turn ...]\na = 1\nb = 2<|im_end|>" in shown(prepared, tokenizer_of(name))[-1]


def test_an_edit_of_text_that_fits_no_window_is_context() -> None:
    file = "".join(f"value_{n} = {n}\n" for n in range(60))
    edit = agent("", ("Edit", json.dumps({"old_string": file, "new_string": "value_0 = 1"}), "ok"))
    talk = (user(TASK), agent("", ("Read", "{}", file)), *work_on("Thought", 3), edit, agent("Done."))
    prepared = windows_of(*talk, max_length=480)
    assert reasons(prepared)["edit_target_cut"] == 1
    assert [turn.reason for turn in prepared.turns][-2:] == ["edit_target_cut", None]
    assert not any("value_0 = 1" in text for text in said(prepared, tokenizer_of("chatml")))


def test_a_window_reaches_back_to_what_an_edit_replaces() -> None:
    read = agent("I look.", ("Read", "{}", FILE[:300]))
    talk = (user(TASK), *work_on("Before", 4), read, *work_on("Thought", 2), edit_of(7), agent("Done."))
    assert "edit_target_excerpted" not in changes(windows_of(*talk, max_length=900))
    assert changes(windows_of(*talk, max_length=480))["edit_target_excerpted"] == 1


def test_an_edit_of_text_that_no_turn_showed_is_a_lesson() -> None:
    prepared = windows_of(user(TASK), *work_on("Thought", 8), edit_of(7), agent("Done."), max_length=300)
    assert "edit_target_cut" not in reasons(prepared)


def test_a_session_of_nothing_but_edits_of_cut_text_is_refused_by_that_name() -> None:
    file = "".join(f"value_{n} = {n}\n" for n in range(60))
    edit = agent("", ("Edit", json.dumps({"old_string": file, "new_string": "value_0 = 1"}), "ok"))
    with pytest.raises(NothingToTrain, match=r"no agent turn to learn from \(edit_target_cut: 1, failed: 1\)"):
        windows_of(user(TASK), agent("", ("Read", "{}", file), context_only="failed"), edit, max_length=300)


def test_a_tool_list_without_a_place_is_written_as_text_and_reported() -> None:
    tools = [{"name": "bash", "description": "runs"}]
    talk = (user(TASK), agent("", ("bash", "{}", "ok")), agent("Done."))
    assert changes(windows_of(*talk, max_length=512, tools=tools)) == {"tool_list_as_text": 1, "tool_syntax_as_text": 1}
    assert changes(windows_of(*talk, max_length=512, name="qwen2_5", tools=tools)) == {}
