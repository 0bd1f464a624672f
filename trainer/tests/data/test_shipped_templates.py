"""Every chat template that trl ships: what the agent says and the end of its turn are the targets, or it is refused.

`python -m pytest tests/data/test_shipped_templates.py -s -k table` prints the table.
"""

import importlib.util
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from transformers import PreTrainedTokenizerFast

from data.families import tokenizer_with
from data.sessions import agent, answers, session_of, shown, system, user
from imprint_trainer.data.prepare import Prepared, prepare_windows
from imprint_trainer.errors import TemplateUnsupported

TRL = importlib.util.find_spec("trl")
assert TRL and TRL.submodule_search_locations
FOLDER = Path(TRL.submodule_search_locations[0]) / "chat_templates"
NAMES = sorted(path.stem for path in FOLDER.glob("*.jinja") if not path.stem.endswith("_training"))

# A template's control tokens, as it spells them.
CONTROL = re.compile(
    r"<\|[\w/\"]+\|?>|<\w+\|>|<｜[^｜<>]+｜>|<(?:bos|sop|start_of_turn|end_of_turn|end_of_utterance)>|\[/?INST\]|\[gMASK\]"
)
ORDINARY = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")
# What ends a turn. Gemma 4 hands over to the tool behind a call; gpt-oss ends calls in a way of its own.
ENDS = (
    "<|im_end|>",
    "<|END_OF_TURN_TOKEN|>",
    "<｜end▁of▁sentence｜>",
    "<end_of_turn>",
    "<turn|>",
    "<|tool_response>",
    "<|eot_id|>",
    "<|eot|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
)
HEADER = re.compile(
    r"\s*(?:assistant|model)\b"
    r"|\s*<(?:\|turn>|\|im_start|\|start\||\|start_header|start_of_turn|\|assistant|｜Assistant|\|START_OF_TURN|\|CHATBOT)"
)
REFUSED = {
    "glm4moe": "no end-of-turn token",
    "idefics3": "leaves out what user or assistant say",
    "llava_next": "refuses this conversation",
    "smolvlm": "leaves out what user or assistant say",
}
# These take thoughts back out of what is said, and have no other place for them.
REFUSED_WITH_THOUGHTS = {"deepseek_r1_distill": "leaves out or rewrites", "deepseekv3": "leaves out or rewrites"}

PARAMETERS = {"type": "object", "properties": {"wallaby": {"type": "string"}}}
TOOLS = [{"name": name, "description": "dingo", "parameters": PARAMETERS} for name in ("bilby", "galah")]
BILBY = ("bilby", '{"wallaby": "pademelon"}', "cassowary one")
GALAH = ("galah", '{"wallaby": "bandicoot"}', "cassowary two")
NOT_SAID = ("emu", "cassowary", "dingo")  # system text, requests, results and tools: each says one of these
STEPS: list[dict[str, Any]] = [
    system("Hear the emu."),
    user("Feed the emu."),
    agent("Quokka says.", BILBY, reasoning="Wombat muses."),
    agent("", BILBY, GALAH, reasoning="Numbat muses."),
    agent("Potoroo says.", reasoning="Possum muses."),
    user("Wash the emu."),
    agent("", GALAH),
    agent("", BILBY, reasoning="Dunnart muses."),
    agent("Echidna says.", reasoning="Kultarr muses."),
]
PROBES = ("quokka", "numbat", "QUOLL")  # of the code under test: none may reach a window


@cache
def tokenizer_of(name: str) -> PreTrainedTokenizerFast:
    source = (FOLDER / f"{name}.jinja").read_text(encoding="utf-8")
    return tokenizer_with(source, ("<s>", *dict.fromkeys(CONTROL.findall(source)), "</s>"), ORDINARY)


def prepared(name: str, *, reasoning: bool) -> Prepared:
    return prepare_windows(session_of(*STEPS, tools=TOOLS), tokenizer_of(name), max_length=8192, reasoning=reasoning)


def expected(*, reasoning: bool) -> list[str]:
    """All that the agent says, turn by turn, in words that occur nowhere else."""
    found = []
    for step in STEPS:
        if step["source"] == "agent":
            calls = [word for call in step.get("tool_calls", ()) for word in (call["name"], *told(call["arguments"]))]
            thought = step.get("reasoning", "") if reasoning else ""
            found += [*thought.split()[:1], *step["text"].split()[:1], *calls]
    return found


def told(arguments: str) -> list[str]:
    return [word for item in json.loads(arguments).items() for word in item]


def fault(name: str, *, reasoning: bool) -> str | None:
    """What is wrong with the targets. Raises TemplateUnsupported."""
    windows = prepared(name, reasoning=reasoning)
    said = answers(windows, tokenizer_of(name))
    for answer in said:
        end = next((end for end in ENDS if answer.endswith(end)), None)
        if end is None or answer.removesuffix(end).endswith(ENDS):
            return f"ends otherwise: {answer!r}"
        if any(word in answer for word in NOT_SAID):
            return f"more than the agent's words: {answer!r}"
        if HEADER.match(answer):
            return f"a role header: {answer!r}"
    wanted, words = expected(reasoning=reasoning), re.findall(r"\w+", " ".join(said))
    found = [word for word in words if word in wanted]
    if sorted(found) != sorted(wanted):
        return f"says {found}, not {wanted}"
    probe = next((probe for probe in PROBES if any(probe in text for text in shown(windows, tokenizer_of(name)))), None)
    return f"{probe} stands in a window" if probe else None


def verdict(name: str, *, reasoning: bool) -> str:
    try:
        return fault(name, reasoning=reasoning) or "right"
    except TemplateUnsupported as error:
        return f"refused: {error}"


@pytest.mark.parametrize("reasoning", [False, True], ids=["", "thoughts"])
@pytest.mark.parametrize("name", NAMES)
def test_the_agents_words_and_the_end_of_its_turns_are_the_targets(name: str, reasoning: bool) -> None:
    refused = REFUSED.get(name) or (REFUSED_WITH_THOUGHTS.get(name) if reasoning else None)
    found = verdict(name, reasoning=reasoning)
    assert re.fullmatch(f"refused: .*{refused}.*" if refused else "right", found), found


def test_the_table_of_templates_has_no_fault() -> None:
    table = {name: [verdict(name, reasoning=reasoning) for reasoning in (False, True)] for name in NAMES}
    print(
        *("", *(f"{name}: {without}; with thoughts: {thinking}" for name, (without, thinking) in table.items())),
        sep="\n",
    )
    assert {name for name, (without, _) in table.items() if without != "right"} == REFUSED.keys()


@pytest.mark.parametrize("name", ["gemma4", "gemma4_v3", "gemma4_v4", "gemma4_v5"])
def test_calls_without_words_share_a_window_where_the_turn_goes_on_behind_a_result(name: str) -> None:
    steps = [user("Feed the emu."), *(agent("", BILBY) for _ in range(4)), agent("Potoroo says.")]
    found = prepare_windows(session_of(*steps, tools=TOOLS), tokenizer_of(name), max_length=8192)
    (text,) = shown(found, tokenizer_of(name))
    assert text.count("<|turn>model") == 1
    assert answers(found, tokenizer_of(name))[-1] == "Potoroo says.<turn|>"
