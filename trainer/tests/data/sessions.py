"""Canonical sessions in few words."""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from transformers import PreTrainedTokenizerFast

from imprint_trainer.data.prepare import Prepared
from imprint_trainer.data.session import Session
from imprint_trainer.data.windows import Window
from imprint_trainer.jobs.preview import preview
from imprint_trainer.lora.steps import Steps


def session_json(steps: Sequence[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    source = {"format": "native", "format_version": None, "agent": None, "model": None, "sha256": "0" * 64}
    return {
        "schema_version": 1,
        "session_id": "s1",
        "source": source,
        "task_type": None,
        "outcome": "success",
        "outcome_signal": None,
        "started_at": None,
        "tools": [],
        "steps": list(steps),
        "bad_lines": 0,
        "dropped": [],
        "redactions": [],
        **changes,
    }


def session_of(*steps: dict[str, Any], **changes: Any) -> Session:
    return Session.model_validate_json(json.dumps(session_json(steps, **changes)))


def system(text: str) -> dict[str, Any]:
    return {"source": "system", "text": text}


def user(text: str) -> dict[str, Any]:
    return {"source": "user", "text": text}


def agent(text: str, *calls: tuple[str, str, str], **more: Any) -> dict[str, Any]:
    """`calls`: name, arguments, result."""
    step: dict[str, Any] = {"source": "agent", "text": text, **more}
    if calls:
        ids = [f"call_{index}" for index in range(len(calls))]
        step["tool_calls"] = [
            {"id": name, "name": call[0], "arguments": call[1]} for name, call in zip(ids, calls, strict=True)
        ]
        step["observations"] = [{"call_id": name, "content": call[2]} for name, call in zip(ids, calls, strict=True)]
    return step


def said(prepared: Prepared, tokenizer: PreTrainedTokenizerFast) -> list[str]:
    """The supervised stretches, decoded, window by window."""
    shown = preview(prepared, tokenizer, steps=Steps(1, 1, 1))
    return [span["text"] for window in shown["text"] for span in window if span["supervised"]]


def answers(prepared: Prepared, tokenizer: PreTrainedTokenizerFast) -> list[str]:
    """The answers, decoded, window by window: with what stands in them for secrets, which is no target."""
    return [tokenizer.decode(list(window.input_ids[start:end])) for window, start, end in answer_tokens(prepared)]


def secrets_in(prepared: Prepared, tokenizer: PreTrainedTokenizerFast) -> list[str]:
    """The stretches of answers that are no targets, decoded."""
    found = []
    for window, start, end in answer_tokens(prepared):
        pairs = zip(window.input_ids[start:end], window.supervised[start:end], strict=True)
        for target, run in groupby(pairs, key=lambda pair: pair[1]):
            if not target:
                found.append(tokenizer.decode([token for token, _ in run]))
    return found


def answer_tokens(prepared: Prepared) -> Iterator[tuple[Window, int, int]]:
    """Windows and the tokens [start, end) of their answers."""
    for window in prepared.windows:
        for _, start, end in window.answer_spans:
            yield window, start, max(i + 1 for i in range(start, end) if window.supervised[i])


def shown(prepared: Prepared, tokenizer: PreTrainedTokenizerFast) -> list[str]:
    """Each window, decoded."""
    return [tokenizer.decode(list(window.input_ids)) for window in prepared.windows]


def reasons(prepared: Prepared) -> dict[str, int]:
    return {one.reason: one.count for one in prepared.dropped}


def changes(prepared: Prepared) -> dict[str, int]:
    return {one.reason: one.count for one in prepared.changed}
