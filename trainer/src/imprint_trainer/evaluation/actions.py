"""The next action: what the model calls where the recorded agent called a tool (one call a turn, the first)."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from imprint_trainer.data.messages import json_object
from imprint_trainer.data.session import Step
from imprint_trainer.data.windows import Window
from imprint_trainer.evaluation.calls import Call, same_arguments, same_call, same_files
from imprint_trainer.evaluation.mcnemar import p_value
from imprint_trainer.evaluation.syntax import Syntax, read_call, syntaxes

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

TOKENS = 256  # of an answer, at most
Judged = dict[str, bool]  # by the names of MEASURES
MEASURES = ("valid_call", "same_tool", "same_arguments", "same_file", "loop")


@dataclass(frozen=True)
class Action:
    """What stands before a turn in its window, what the agent called there, and what it had called before."""

    prompt: tuple[int, ...]
    expected: Call
    previous: Call | None


@dataclass(frozen=True)
class Actions:
    """`unread`: turns with a call that cannot be read back from how the template writes it; they are not sampled."""

    sampled: tuple[Action, ...]
    unread: int


def next_actions(
    sessions: Sequence[tuple[Sequence[Step], Sequence[Window]]],
    tokenizer: "PreTrainedTokenizerBase",
    *,
    most: int,
    seed: int,
) -> Actions:
    """At most `most` turns that call a tool, of all sessions, spread evenly."""
    if not most:
        return Actions((), 0)
    known = syntaxes(tokenizer)
    found: list[Action] = []
    calling = 0
    for steps, windows in sessions:
        seen: set[int] = set()
        for window in windows:
            ends = [lesson.start for lesson in window.lessons[1:]] + [len(window.input_ids)]
            for lesson, end in zip(window.lessons, ends, strict=True):
                if not steps[lesson.step].tool_calls or lesson.step in seen:
                    continue
                seen.add(lesson.step)
                calling += 1
                expected = read_answer(window.input_ids[lesson.start : end], tokenizer, known)
                if expected is not None and expected.arguments is not None:
                    prompt = window.input_ids[: lesson.start]
                    found.append(Action(prompt, expected, call_before(steps, lesson.step)))
    return Actions(spread(found, most, seed), calling - len(found))


def spread(found: Sequence[Action], most: int, seed: int) -> tuple[Action, ...]:
    """One of each of `most` stretches of equal length, all at the same place in theirs."""
    if len(found) <= most:
        return tuple(found)
    offset = random.Random(seed).random()
    return tuple(found[int((place + offset) * len(found) / most)] for place in range(most))


def call_before(steps: Sequence[Step], index: int) -> Call | None:
    """The last call of the turns before a step."""
    calls = [call for step in steps[:index] for call in step.tool_calls]
    if not calls:
        return None
    arguments = json_object(calls[-1].arguments)
    return Call(calls[-1].name, calls[-1].arguments if arguments is None else arguments)


def read_answer(ids: Sequence[int], tokenizer: Any, known: Sequence[Syntax]) -> Call | None:
    text = tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False)
    return read_call(text, known)


def judged(action: Action, call: Call | None) -> Judged:
    """Which of MEASURES hold for an answer that made this call, or none."""
    if call is None:
        return dict.fromkeys(MEASURES, False)
    tool = call.name == action.expected.name
    whole = call.arguments is not None
    return {
        "valid_call": whole,
        "same_tool": tool,
        "same_arguments": tool and whole and same_arguments(call.arguments, action.expected.arguments),
        "same_file": same_files(call, action.expected),
        "loop": action.previous is not None and same_call(call, action.previous),
    }


def compared(base: Sequence[Judged], adapter: Sequence[Judged]) -> dict[str, Any] | None:
    """The contracts' `actions` of an evaluation; None where nothing was sampled."""
    if not base:
        return None
    columns = {name: ([one[name] for one in base], [one[name] for one in adapter]) for name in MEASURES}
    return {
        "sampled": len(base),
        "base": {name: sum(ours) for name, (ours, _) in columns.items()},
        "adapter": {name: sum(theirs) for name, (_, theirs) in columns.items()},
        "p_values": {name: p_value(ours, theirs) for name, (ours, theirs) in columns.items()},
    }
