"""Whether the lessons of windows can be learned from what stands before them: the four faults that real sessions had.

    python -m imprint_trainer lessons --base FOLDER [--max-length N ...] SESSIONS.jsonl

It reads what windows say, decoded, and asks nothing of the code that cut them.
"""

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imprint_trainer.data.edits import in_sight, squashed, targets
from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.data.session import Session, Step, mended
from imprint_trainer.data.windows import Window
from imprint_trainer.errors import TrainerError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

FAULTS = ("without_request", "same_prompt", "secret_supervised", "edit_target_cut")
OPENING = 32  # characters of a request that must stand in its window: its middle may be cut
SECRET = re.compile(r"<SECRET:[a-z0-9-]+>")


def faults(
    session: Session, windows: Sequence[Window], tokenizer: "PreTrainedTokenizerBase"
) -> Iterator[tuple[str, int]]:
    """Each fault of a session's windows, by its name and the step it is about."""
    prompts: defaultdict[tuple[int, ...], set[tuple[int, ...]]] = defaultdict(set)
    for window in windows:
        ends = [lesson.start for lesson in window.lessons[1:]] + [len(window.input_ids)]
        for lesson, end in zip(window.lessons, ends, strict=True):
            prompt, answer = window.input_ids[: lesson.start], window.input_ids[lesson.start : end]
            before = decoded(tokenizer, prompt)
            prompts[prompt].add(answer)
            if len(prompts[prompt]) == 2:
                yield "same_prompt", lesson.step
            if squashed(request_of(session.steps, lesson.step)[:OPENING]) not in squashed(before):
                yield "without_request", lesson.step
            if any(SECRET.search(run) for run in supervised_runs(window, lesson.start, end, tokenizer)):
                yield "secret_supervised", lesson.step
            if blind(session.steps, lesson.step, before, decoded(tokenizer, answer)):
                yield "edit_target_cut", lesson.step


def request_of(steps: Sequence[Step], index: int) -> str:
    """What a person asked last before a step; the system text where nobody asked."""
    asked = [step.text.strip() for step in steps[:index] if step.source == "user"]
    return asked[-1] if asked else ""


def supervised_runs(window: Window, start: int, end: int, tokenizer: "PreTrainedTokenizerBase") -> Iterator[str]:
    run: list[int] = []
    for token, target in zip(window.input_ids[start:end], window.supervised[start:end], strict=True):
        if target:
            run.append(token)
        elif run:
            yield decoded(tokenizer, run)
            run = []
    yield decoded(tokenizer, run)


def blind(steps: Sequence[Step], index: int, before: str, answer: str) -> bool:
    """Whether an answer replaces text that the session had shown, and that does not stand before it in the window."""
    step, seen, written = steps[index], squashed(before), squashed(answer)
    replaced = targets(step.text, [call.arguments for call in step.tool_calls])
    cut = [target for target in replaced if in_sight(target, written) and not in_sight(target, seen)]
    shown = "".join(squashed(everything(earlier)) for earlier in steps[:index]) if cut else ""
    return any(in_sight(target, shown) for target in cut)


def everything(step: Step) -> str:
    calls = [call.arguments for call in step.tool_calls]
    return "\n".join([step.text, *calls, *(seen.content for seen in step.observations)])


def decoded(tokenizer: "PreTrainedTokenizerBase", ids: Iterable[int]) -> str:
    return str(tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False))


def main(argv: Sequence[str]) -> int:
    """Prints the faults of each session, and their sums; exit code 1 when there are any."""
    parser = argparse.ArgumentParser(prog="python -m imprint_trainer lessons", description=__doc__)
    parser.add_argument("sessions", type=Path, help="canonical sessions, one JSON object a line")
    parser.add_argument("--base", required=True, type=Path, help="folder with the tokenizer of a base model")
    parser.add_argument("--max-length", type=int, nargs="+", default=[1024, 4096], help="tokens in a training window")
    options = parser.parse_args(argv)
    from imprint_trainer.models.tokenizer import load_tokenizer

    try:
        tokenizer = load_tokenizer(options.base)
    except TrainerError as error:
        print(f"{error.message}. {error.hint}", file=sys.stderr)
        return 2
    total: Counter[str] = Counter()
    for max_length in options.max_length:
        found = check(recorded(options.sessions), tokenizer, max_length)
        total.update({name: found[name] for name in FAULTS})
        print(f"max_length {max_length}: " + ", ".join(f"{found[name]} {name}" for name in (*found, *FAULTS)))
    return 1 if total.total() else 0


def recorded(path: Path) -> Iterator[Session]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield Session.model_validate_json(mended(line))


def check(sessions: Iterable[Session], tokenizer: Any, max_length: int) -> Counter[str]:
    counts: Counter[str] = Counter(sessions=0, untrainable=0, windows=0, lessons=0)
    for session in sessions:
        try:
            prepared = prepare_windows(session, tokenizer, max_length=max_length, include_unsuccessful=True)
        except TrainerError as error:
            counts["untrainable"] += 1
            print(json.dumps({"session": session.session_id, "untrainable": error.message}))
            continue
        found = Counter(name for name, _ in faults(session, prepared.windows, tokenizer))
        if found:
            print(json.dumps({"session": session.session_id, "max_length": max_length, **found}))
        counts.update(found)
        counts.update(
            sessions=1, windows=len(prepared.windows), lessons=sum(len(one.lessons) for one in prepared.windows)
        )
    return counts
