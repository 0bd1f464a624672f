"""Every recorded session at hand, by template family: its assistant's own words are learned, and nothing else.

The examples always; in a checkout with a `shared` folder beside it also every recorded session there.
"""

import json
import re
from typing import Any

import pytest

from data.families import family, tokenizer_of
from data.faults import faults
from data.recorded import MAX_LENGTH, trainable
from data.sessions import answers, changes, said, secrets_in, shown
from imprint_trainer.data.prepare import Prepared, prepare_windows
from imprint_trainer.data.select import TrainOn
from imprint_trainer.data.session import Session, Step
from imprint_trainer.errors import NothingToTrain

FAMILIES = ["chatml", "qwen2_5", "qwen3", "llama3", "mistral", "gemma", "gptoss"]
SHORT = 30_000  # characters of a session that is prepared several times
NOT_LEARNED = {
    "failed",
    "weight_zero",
    "aborted",
    "refused",
    "edited",
    "synthetic",
    "copied",
    "duplicate_turn",
    "empty_turn",
    "before_task",
    "edit_target_cut",
}


def squeezed(text: str) -> str:
    """Without white space, which templates trim and add at the borders of a turn."""
    return "".join(text.split())


def arguments(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, dict) else text


def as_text(step: Step) -> str:
    """A turn with its calls in the documented fallback, which is also what Qwen's templates write."""
    calls = [{"name": call.name, "arguments": arguments(call.arguments)} for call in step.tool_calls]
    blocks = [f"<tool_call>{json.dumps(call, ensure_ascii=False)}</tool_call>" for call in calls]
    return step.text + "".join(blocks)


def own_words(step: Step, name: str, fallback: bool) -> str:
    """What the model of a family writes in this turn, from the family's published format."""
    end = family(name).end
    if name == "mistral" and step.tool_calls and not fallback:
        calls = [
            json.dumps({"name": call.name, "arguments": arguments(call.arguments), "id": "ID"}, ensure_ascii=False)
            for call in step.tool_calls
        ]
        return f"{step.text}[TOOL_CALLS][{','.join(calls)}]{end}"
    if name == "gptoss" and step.tool_calls and not fallback:
        thought = f"<|channel|>analysis<|message|>{step.text}<|end|><|start|>assistant" if step.text.strip() else ""
        calls = [
            f"to=functions.{call.name}<|channel|>commentary json<|message|>"
            f"{json.dumps(arguments(call.arguments), ensure_ascii=False)}<|call|>"
            for call in step.tool_calls
        ]
        return thought + "".join(calls)
    if name == "gptoss":
        return f"<|channel|>final<|message|>{as_text(step)}{end}"
    return as_text(step) + end


def learned(session: Session, prepared: Prepared) -> list[Step]:
    for turn in prepared.turns:
        assert turn.reason is None or turn.reason in NOT_LEARNED
    return [session.steps[turn.step] for turn in prepared.turns if turn.reason is None]


def windows_of(session: Session, name: str, *, reasoning: bool = False, train_on: TrainOn = "all") -> Prepared:
    return prepare_windows(
        session,
        tokenizer_of(name),
        max_length=MAX_LENGTH,
        include_unsuccessful=True,
        reasoning=reasoning,
        train_on=train_on,
    )


def task_of(session: Session) -> str:
    first = next((step for step in session.steps if step.source == "user"), None)
    return (first or next(step for step in session.steps if step.source == "system")).text


@pytest.mark.parametrize("name", FAMILIES)
def test_what_is_learned_is_what_the_assistant_said(name: str) -> None:
    tokenizer = tokenizer_of(name)
    for session in trainable():
        prepared = windows_of(session, name)
        everything = re.sub(r'"id": "[0-9A-Za-z]{9}"', '"id": "ID"', "".join(answers(prepared, tokenizer)))
        fallback = "tool_syntax_as_text" in changes(prepared)
        steps = learned(session, prepared)
        assert squeezed(everything) == squeezed("".join(own_words(step, name, fallback) for step in steps)), (
            session.session_id
        )
        for window, text in zip(prepared.windows, shown(prepared, tokenizer), strict=True):
            assert len(window.input_ids) == len(window.supervised) <= MAX_LENGTH
            assert "task_shortened" in changes(prepared) or squeezed(task_of(session)) in squeezed(text)


@pytest.mark.parametrize(("name", "max_length"), [("chatml", 1024), ("qwen3", MAX_LENGTH)])
def test_what_is_learned_can_be_learned_from_what_stands_before_it(name: str, max_length: int) -> None:
    tokenizer = tokenizer_of(name)
    for session in trainable():
        try:
            prepared = prepare_windows(session, tokenizer, max_length=max_length, include_unsuccessful=True)
        except NothingToTrain:
            continue
        assert list(faults(session, prepared.windows, tokenizer)) == [], session.session_id
        assert all("SECRET:" in text for text in secrets_in(prepared, tokenizer))


def thinking(session: Session) -> Session:
    """The session with a thought of its own at each answer that has none."""
    steps = [
        step.model_copy(update={"reasoning": step.reasoning or f"Thought {index}."}) if step.source == "agent" else step
        for index, step in enumerate(session.steps)
    ]
    return session.model_copy(update={"steps": tuple(steps)})


def test_reasoning_is_learned_where_it_is_asked_for_and_nowhere_else() -> None:
    for session in map(thinking, trainable()):
        if len(session.model_dump_json()) > SHORT:
            continue
        silent, aloud = (windows_of(session, "chatml", reasoning=reasoning) for reasoning in (False, True))
        assert not any("Thought " in text for text in said(silent, tokenizer_of("chatml")))
        expected = "".join(
            f"<think>{step.reasoning}</think>{own_words(step, 'chatml', True)}" for step in learned(session, aloud)
        )
        assert squeezed("".join(answers(aloud, tokenizer_of("chatml")))) == squeezed(expected), session.session_id


def test_a_choice_of_turns_leaves_the_other_turns_as_context() -> None:
    for session in trainable():
        if len(session.model_dump_json()) > SHORT:
            continue
        turns = [turn.step for turn in windows_of(session, "chatml").turns if turn.reason is None]
        choices: list[tuple[TrainOn, list[int]]] = [("final_answer", turns[-1:]), (("turns", turns[::2]), turns[::2])]
        for train_on, chosen in choices:
            prepared = windows_of(session, "chatml", train_on=train_on)
            expected = "".join(own_words(session.steps[index], "chatml", True) for index in chosen)
            assert squeezed("".join(answers(prepared, tokenizer_of("chatml")))) == squeezed(expected), (
                session.session_id
            )
