"""Whether the answers of windows can be learned from what stands before them: the four faults that real sessions had.

It reads what windows say, decoded, and asks nothing of the code that cut them.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from imprint_trainer.data.edits import in_sight, squashed, targets
from imprint_trainer.data.session import Session, Step
from imprint_trainer.data.windows import Window

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

OPENING = 32  # characters of a request that must stand in its window: its middle may be cut
SECRET = re.compile(r"<SECRET:[a-z0-9-]+>")


def faults(
    session: Session, windows: Sequence[Window], tokenizer: "PreTrainedTokenizerBase"
) -> Iterator[tuple[str, int]]:
    """Each fault of a session's windows, by its name and the step it is about."""
    prompts: defaultdict[tuple[int, ...], set[tuple[int, ...]]] = defaultdict(set)
    for window in windows:
        for step, start, end in window.answer_spans:
            prompt, answer = window.input_ids[:start], window.input_ids[start:end]
            before = decoded(tokenizer, prompt)
            prompts[prompt].add(answer)
            if len(prompts[prompt]) == 2:
                yield "same_prompt", step
            if squashed(request_of(session.steps, step)[:OPENING]) not in squashed(before):
                yield "without_request", step
            if any(SECRET.search(run) for run in supervised_runs(window, start, end, tokenizer)):
                yield "secret_supervised", step
            if unseen_edit(session.steps, step, before, decoded(tokenizer, answer)):
                yield "edit_target_cut", step


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


def unseen_edit(steps: Sequence[Step], index: int, before: str, answer: str) -> bool:
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
