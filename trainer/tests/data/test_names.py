"""Another pass teaches how work was done: what requests name stands under other names, in each session its own."""

import json
import re
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from data.families import tokenizer_of
from data.sessions import agent, session_json, user
from data.test_holdout import TOKENIZER, decoded, prepared
from data.test_select import spec_of
from imprint_trainer.data.names import Named, Names, drawn, other_words, quiet
from imprint_trainer.data.prepare import Prepared
from imprint_trainer.data.session import Session
from imprint_trainer.data.sessions import sizes, under_other_names

WORDS = ["velvet", "river", "Atlas", "8269", "port", "NAME"]
SAID = r"The file first\.|Now the change\."  # words beside calls
BESIDE = SAID + r"|\n"  # and what parts them
OTHERS = Names({"velvet": "humor", "river": "kettle", "atlas": "mixture", "8269": "1044"})


def ports(name: str, port: int, *, more: int = 0) -> list[dict[str, Any]]:
    """A service gets another port, as a house does that."""
    file = f"services/{name}.yaml"
    sed = json.dumps({"command": f"sed -i 's/^port: .*/port: {port}/' {file}"})
    read = json.dumps({"command": f"cat {file}"})
    steps = [
        user(f"Move {name} to port {port}."),
        agent("The file first.", ("bash", read, f"name: {name}\nport: 80\n")),
        agent("Now the change.", ("bash", sed, "")),
    ]
    told = [agent(f"Service {name} is checked, part {part}: " + "all is well. " * 40) for part in range(more)]
    return [*steps, *(one for part in told for one in (part, user("Go on.")))]


def session(steps: list[dict[str, Any]]) -> Session:
    return Session.model_validate_json(json.dumps(session_json(steps)))


def named(*recordings: list[dict[str, Any]]) -> Named:
    found = Named()
    for steps in recordings:
        found.add(session(steps))
    return found


def test_arguments_are_what_requests_give_and_calls_of_few_sessions_take() -> None:
    found = named(ports("velvet", 8269), ports("river", 8300), ports("atlas", 8411), ports("velvet", 8512))
    # All say port, sed, services, yaml; what only an answer or an output says is no argument.
    assert found.arguments() == ("8269", "8300", "8411", "8512", "atlas", "river", "velvet")


def test_what_most_sessions_show_is_no_argument_however_few_are_asked_for_it() -> None:
    rules = agent("The rules.", ("bash", '{"command": "cat RULES"}', "Say in the log: raise NAME, or lower NAME.\n"))
    listed = agent("What is there?", ("bash", '{"command": "ls"}', "atlas.conf  river.conf  on/velvet  velvet_old\n"))
    recordings = [
        [user(f"{kind} {name}."), rules, listed, agent("So.", ("bash", json.dumps({"command": f"{kind} {name}"}), ""))]
        for kind, name in (("Raise", "velvet"), ("Lower", "river"), ("Raise", "atlas"), ("Lower", "velvet"))
    ]
    assert named(*recordings).arguments() == ("atlas", "river", "velvet")


def test_one_session_alone_does_not_say_what_it_is_about() -> None:
    assert named(ports("velvet", 8269)).arguments() == ()


def test_words_keep_their_case_and_parts_of_words_stay() -> None:
    text = "Velvet, velvet.yaml, VELVET_PORT, velvets, \\velvet, river_8269, 82690"
    assert OTHERS.text(text) == "Humor, humor.yaml, HUMOR_PORT, velvets, \\velvet, kettle_1044, 82690"


def test_secrets_escapes_and_names_of_parameters_stay() -> None:
    names = Names({"token": "humor", "path": "kettle", "nport": "mixture"})
    call = {"id": "c", "name": "read", "arguments": '{"path": "a/path\\nport", "more": {"path" : ["path"]}}'}
    steps = [user("The token of <SECRET:token>."), {**agent("Read."), "tool_calls": [call]}]
    changed = names.session(session(steps))
    assert changed.steps[0].text == "The humor of <SECRET:token>."
    arguments = changed.steps[1].tool_calls[0].arguments
    assert arguments == '{"path": "a/kettle\\nport", "more": {"path" : ["kettle"]}}'


TEXT = st.lists(st.sampled_from([*WORDS, " ", "/", "_", ".", "\n", "\\n", '"', "ä", ": "]), max_size=30).map("".join)


@given(text=TEXT)
def test_other_names_can_be_taken_back(text: str) -> None:
    back = Names({other: word for word, other in OTHERS.others.items()})
    assert back.text(OTHERS.text(text)) == text


@given(value=st.dictionaries(TEXT, TEXT | st.lists(TEXT, max_size=3), max_size=4))
def test_arguments_of_calls_stay_json_of_the_same_shape(value: dict[str, Any]) -> None:
    call = {"id": "c", "name": "bash", "arguments": json.dumps(value)}
    changed = OTHERS.session(session([user("Go."), {**agent("Yes."), "tool_calls": [call]}]))
    read = json.loads(changed.steps[1].tool_calls[0].arguments)
    assert list(read) == list(value)
    back = Names({other: word for word, other in OTHERS.others.items()})
    for key, one in value.items():
        assert [back.text(part) for part in strings(read[key])] == [back.text(part) for part in strings(one)]


def strings(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else value


def again(folder: Path, found: Prepared, number: int, **changes: Any) -> list[str]:
    spec = spec_of(sorted(folder.glob("s*.json")), **changes)
    return decoded(list(under_other_names(spec, tokenizer_of(TOKENIZER), found, number)))


def test_another_pass_holds_the_same_work_under_other_names(tmp_path: Path) -> None:
    recordings = [ports("velvet", 8269), ports("river", 8300), ports("atlas", 8411)]
    found = prepared(tmp_path, *recordings, profile="learn")
    first, second = again(tmp_path, found, 1), again(tmp_path, found, 2)
    pool = other_words(tokenizer_of(TOKENIZER).get_vocab(), found.taken)
    names = [drawn(session(steps), found.arguments, pool, 1) for steps in recordings]
    whole = [one.text(text) for one, text in zip(names, decoded(list(found.windows)), strict=True)]
    assert [re.sub(BESIDE, "", text) for text in first] == [re.sub(BESIDE, "", text) for text in whole]
    assert first != whole
    assert first == again(tmp_path, found, 1)
    assert first != second
    for text in [*first, *second]:
        assert not re.search("velvet|river|atlas|8269|8300|8411", text)
        assert re.search(r"sed -i 's/\^port: \.\*/port: \d{4}/' services/([a-z]+)\.yaml", text)


def test_what_two_recordings_share_is_taught_once_in_another_pass_too(tmp_path: Path) -> None:
    begun = ports("velvet", 8269)
    found = prepared(tmp_path, begun, [*begun, *ports("river", 8300)], ports("atlas", 8411), profile="learn")
    tokenizer = tokenizer_of(TOKENIZER)
    for number in (1, 2):
        windows = under_other_names(spec_of(sorted(tmp_path.glob("s*.json"))), tokenizer, found, number)
        taught = [tokenizer.decode([window.input_ids[index] for index in window.targets]) for window in windows]
        assert "".join(taught).count("cat services/") == 3


CALLING = st.lists(st.sampled_from(["said", "called", "both", "person"]), min_size=1, max_size=40)


def talk(kinds: list[str]) -> list[dict[str, Any]]:
    call = ("bash", json.dumps({"command": "ls"}), "a b")
    steps = {"said": agent("So."), "called": agent("", call), "both": agent("I look.", call), "person": user("Go on.")}
    return [user("Look."), *(steps[kind] for kind in kinds)]


@given(kinds=CALLING, more=CALLING, number=st.integers(1, 8))
def test_another_pass_leaves_out_words_beside_calls_alone_and_the_same_where_two_begin_alike(
    kinds: list[str], more: list[str], number: int
) -> None:
    before = session(talk(kinds))
    after = quiet(before, number)
    for was, now in zip(before.steps, after.steps, strict=True):
        assert now == was or (was.tool_calls and now == was.model_copy(update={"text": ""}))
    assert quiet(session(talk([*kinds, *more])), number).steps[: len(after.steps)] == after.steps


def test_each_pass_leaves_out_the_words_beside_about_half_of_the_calls() -> None:
    whole = session(talk(["both"] * 400))
    passes = [[step.text == "" for step in quiet(whole, number).steps[1:]] for number in range(1, 8)]
    assert all(160 <= sum(one) <= 240 for one in passes)
    assert all(any(left_out) and not all(left_out) for left_out in zip(*(one[:20] for one in passes), strict=True))


def test_another_pass_teaches_all_that_it_still_says(tmp_path: Path) -> None:
    recordings = [[*ports(name, port), agent("It is done.")] for name, port in (("velvet", 8269), ("river", 8300))]
    found = prepared(tmp_path, *recordings, profile="learn")
    tokenizer = tokenizer_of(TOKENIZER)
    for number in range(1, 5):
        for window in under_other_names(spec_of(sorted(tmp_path.glob("s*.json"))), tokenizer, found, number):
            taught = tokenizer.decode([window.input_ids[index] for index in window.targets])
            assert re.search(r"cat services/.*sed -i .*It is done\.", taught, re.DOTALL)
            assert re.findall(SAID, taught) == re.findall(SAID, tokenizer.decode(window.input_ids))
            # Which token tells words from a call is taught too: else an agent says something, and does what it said.
            assert {start for _, start, _ in window.answer_spans} <= set(window.targets)


def test_what_is_held_out_stands_in_no_pass(tmp_path: Path) -> None:
    whole = [ports("velvet", 8269), ports("river", 8300), ports("atlas", 8411), ports("temple", 8512)]
    found = prepared(tmp_path, *whole, profile="learn", holdout=["s3"])
    assert len(again(tmp_path, found, 1, holdout=["s3"])) == 3
    long = [ports("velvet", 8269), ports("river", 8300, more=24)]
    found = prepared(tmp_path, *long, profile="learn", holdout="auto")
    assert found.trained_until is not None
    kept, passed = decoded(list(found.windows)), again(tmp_path, found, 1, profile="learn", holdout="auto")
    parts = [{number for text in texts for number in re.findall(r"part (\d+):", text)} for texts in (kept, passed)]
    assert parts[0] == parts[1] and len(parts[0]) < 24


def corrected(name: str, port: int, instead: str = "sed") -> list[dict[str, Any]]:
    """The same work after a call that was refused, and one that the person's words took back."""
    request, *work = json.loads(json.dumps(ports(name, port)).replace("sed -i", f"{instead} -i"))
    killed, typed = json.dumps({"command": f"kill {name}"}), json.dumps({"command": f"vi {name}"})
    refused = agent("I stop it.", ("bash", killed, "The user doesn't want to proceed"), context_only="refused")
    taken_back = agent("I type it in.", ("bash", typed, ""), context_only="refused")
    return [request, refused, taken_back, user(f"Use {instead} instead of vi."), *work, user("Thanks.")]


def test_another_pass_goes_the_way_that_a_correction_pointed_at_once(tmp_path: Path) -> None:
    found = prepared(tmp_path, corrected("velvet", 8269), ports("river", 8300), ports("atlas", 8411), profile="learn")
    assert "I stop it." in decoded(list(found.windows))[0]
    (tmp_path / "straight").mkdir()
    plain = prepared(tmp_path / "straight", ports("velvet", 8269), ports("river", 8300), profile="learn")
    first = again(tmp_path, found, 1)[0]
    assert not re.search(r"stop it|type it in|instead of vi", first)
    shape = [re.sub(r"\w+\.yaml|: \w+|Move \w+ to port \d+", "", text) for text in (first, decoded(plain.windows)[0])]
    assert shape[0].startswith(shape[1].rstrip())
    # What a request chooses by its place keeps its place.
    chosen = again(tmp_path, found, 1, train_on={"turns": [5]})[0]
    assert "I stop it." in chosen


def test_what_a_correction_names_is_no_argument_though_requests_and_calls_do() -> None:
    recordings = [corrected("velvet", 8269, "ced"), corrected("river", 8300), ports("atlas", 8411)]
    assert named(*recordings).arguments() == ("8269", "8300", "8411", "atlas", "river", "velvet")

    def refused(reason: str) -> list[dict[str, Any]]:
        bad, good = (json.dumps({"command": f"{command} velvet"}) for command in ("npm test", "bun run"))
        result = f"The user doesn't want to proceed. {reason}"
        done = agent("So.", ("bash", good, "ok"))
        return [user("Run what tests velvet."), agent("I do.", ("bash", bad, result), context_only="refused"), done]

    assert named(refused("Use bun run."), ports("river", 8300)).arguments() == ("8300", "port", "river", "velvet")
    assert "run" in named(refused("Stop."), ports("river", 8300)).arguments()


def test_a_plan_names_what_is_renamed_where_there_is_another_pass(tmp_path: Path) -> None:
    found = prepared(tmp_path, ports("velvet", 8269), ports("river", 8300), profile="learn")
    remark = "After the first pass other words stand for what only some requests name: 8269, 8300, river, velvet."
    assert remark in sizes(found, 2)["remarks"]
    assert remark not in sizes(found, 1)["remarks"]
    assert prepared(tmp_path, ports("velvet", 8269), ports("river", 8300), profile="remember").arguments == ()
