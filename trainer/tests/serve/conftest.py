import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from data.sessions import agent, session_json, user
from serve.running import RunningWorker, job_id, running_worker

Spec = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def worker(tiny_folder: Path) -> Iterator[RunningWorker]:
    """One warm worker for a file's tests: they also show that each job leaves it fit for the next."""
    with running_worker("--base-model", str(tiny_folder), "--heartbeat-seconds", "0.2") as running:
        yield running


_numbers = itertools.count(1)


@pytest.fixture
def new_job_id() -> Callable[[], str]:
    return lambda: job_id(next(_numbers))


@pytest.fixture
def session_path(tmp_path: Path) -> Path:
    steps = [
        user("Why does parse_price drop 1,299.00?"),
        agent("The comma is no digit, so the conversion fails."),
        user("Please fix it."),
        agent("Commas that group thousands are removed now, and the tests pass."),
    ]
    path = tmp_path / "s1.json"
    path.write_text(json.dumps(session_json(steps)))
    return path


@pytest.fixture
def other_path(tmp_path: Path) -> Path:
    """A session with a call that failed, and with recorded reasoning."""
    failed = agent("I run the tests.", ("bash", '{"command": "pytest"}', "1 failed"), reasoning="They may be red.")
    failed["observations"][0]["is_error"] = True
    steps = [user("Make the tests pass."), failed, user("And?"), agent("They pass.", reasoning="Now it is right.")]
    path = tmp_path / "s2.json"
    path.write_text(json.dumps(session_json(steps, session_id="s2")))
    return path


@pytest.fixture
def lora_spec(tiny_folder: Path, session_path: Path, tmp_path: Path) -> Spec:
    (tmp_path / "checkpoint").mkdir()

    def make(out: str = "out", **changes: Any) -> dict[str, Any]:
        return {
            "session_paths": [str(session_path)],
            "base_model": str(tiny_folder),
            "profile": "remember",
            "holdout": "none",
            "max_length": 256,
            "include_unsuccessful": False,
            "skip_invalid": False,
            "unreadable": [],
            "train_on": "all",
            "reasoning": False,
            "session_ids": ["s1"],
            "adapter_id": "tiny-adapter",
            "output_dir": str(tmp_path / out),
            "base_model_name": "tiny",
            "task_type": "code-gen",
            "seed": 7,
            "epochs": 3,
            "within": None,
            "rank": 4,
            "alpha": 8,
            "learning_rate": 0.01,
            "target_modules": None,
            "quantization": "nf4",
            "checkpoint": {"dir": str(tmp_path / "checkpoint"), "seconds": 3600, "start": "fresh"},
        } | changes

    return make


def said(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "content": content, "tool_calls": [], "tool_call_id": None}


@pytest.fixture
def chat_spec(lora_spec: Spec) -> Callable[..., dict[str, Any]]:
    def make(**changes: Any) -> dict[str, Any]:
        return {
            "base_model": lora_spec()["base_model"],
            "adapter_path": None,
            "messages": [said("user", "Please fix it.")],
            "tools": [],
            "tool_choice": "auto",
            "parallel_tool_calls": True,
            "json_schema": None,
            "max_tokens": 12,
            "temperature": 0,
            "top_p": 1,
            "top_k": 0,
            "min_p": 0,
            "enable_thinking": None,
            "stop": [],
            "seed": 1,
            "stream": False,
        } | changes

    return make
