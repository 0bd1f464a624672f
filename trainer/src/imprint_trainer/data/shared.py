"""Turns that several recordings hold, since one resumes or forks another: they are supervised once (rule 4)."""

import hashlib
import json
from collections.abc import Sequence

from imprint_trainer.data.session import Session, Step


def turn_keys(session: Session, *, reasoning: bool) -> list[str]:
    """For each step a digest of what it says and of all that stands before it.

    Two recordings have a turn in common where its keys are equal. The same words after another history are another
    turn: there they answer something else. Ids of calls, times and marks are not compared, nor is reasoning that is not
    learned.
    """
    chain = hashlib.sha256()
    keys = []
    for step in session.steps:
        added(chain, said(step, reasoning))
        keys.append(chain.hexdigest())
        added(chain, [seen.content.strip() for seen in step.observations])  # an answer comes before its results
    return keys


def agent_words(session: Session, *, reasoning: bool) -> dict[int, str]:
    """For each step of the agent a digest of what it says, whatever stands before it."""
    return {
        index: hashlib.sha256(json.dumps(said(step, reasoning)).encode()).hexdigest()
        for index, step in enumerate(session.steps)
        if step.source == "agent"
    }


def added(chain: "hashlib._Hash", words: Sequence[object]) -> None:
    if any(words):  # what says nothing may be missing in a copy
        chain.update(json.dumps(words).encode())


def said(step: Step, reasoning: bool) -> list[object]:
    words = [step.text.strip(), *((call.name, call.arguments) for call in step.tool_calls)]
    if reasoning and step.reasoning:
        words.append(step.reasoning.strip())
    return [step.source, *words] if any(words) else []
