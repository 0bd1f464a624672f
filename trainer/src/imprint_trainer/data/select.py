"""Which agent steps are supervised, and which turns several recordings share (training-data rules 1 and 4)."""

import hashlib
import json
from collections.abc import Collection, Sequence
from typing import Literal

from imprint_trainer.data.session import Session, Step
from imprint_trainer.errors import NothingToTrain, SessionUnsuccessful

TrainOn = Literal["all", "successful_steps", "final_answer"] | tuple[Literal["turns"], list[int]]


def supervised_steps(
    session: Session, *, train_on: TrainOn, include_unsuccessful: bool, reasoning: bool, elsewhere: Collection[int] = ()
) -> tuple[frozenset[int], dict[int, str]]:
    """Indices of the steps to learn from, and why the other agent steps that say something are context only.

    `elsewhere`: those that another session teaches. Raises SessionUnsuccessful for a failed session, NothingToTrain
    when `train_on` names a step that cannot be trained.
    """
    if session.outcome == "failure" and not include_unsuccessful:
        raise SessionUnsuccessful(f"The session {session.session_id} ended in failure.")
    dropped: dict[int, str] = {}
    candidates: list[int] = []
    seen: set[tuple[object, ...]] = set()
    for index, step in enumerate(session.steps):
        if step.source != "agent":
            continue
        key = (words(step), answered(session.steps[index - 1]) if index else None)
        if step.context_only:
            dropped[index] = step.context_only
        elif not (step.text.strip() or step.tool_calls or (reasoning and step.reasoning)):
            continue
        elif key in seen:
            dropped[index] = "duplicate_turn"
        else:
            candidates.append(index)
        seen.add(key)
    chosen = frozenset(chosen_of(candidates, session, train_on))
    dropped |= {index: "not_selected" for index in candidates if index not in chosen}
    shared = chosen & frozenset(elsewhere)
    return chosen - shared, dropped | dict.fromkeys(shared, "shared_turn")


def chosen_of(candidates: list[int], session: Session, train_on: TrainOn) -> list[int]:
    if isinstance(train_on, tuple):
        unknown = [index for index in train_on[1] if index not in candidates]
        if unknown:
            raise NothingToTrain(
                f"train_on names turn {unknown[0]}, which is no turn of the session {session.session_id} to learn from."
            )
        return [index for index in candidates if index in train_on[1]]
    if train_on == "final_answer":
        return candidates[-1:]
    if train_on == "successful_steps":
        return [index for index in candidates if not any(seen.is_error for seen in session.steps[index].observations)]
    return candidates


def words(step: Step) -> tuple[object, ...]:
    """What a step says, without the ids of its calls."""
    return (step.text, tuple((call.name, call.arguments) for call in step.tool_calls), step.reasoning)


def answered(step: Step) -> tuple[object, ...]:
    return (step.source, *words(step), tuple(item.content for item in step.observations))


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
