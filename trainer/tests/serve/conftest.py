import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from serve.running import RunningWorker, job_id

Spec = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def worker(tiny_folder: Path) -> Iterator[RunningWorker]:
    """One warm worker for a file's tests: they also show that each job leaves it fit for the next."""
    running = RunningWorker("--base-model", str(tiny_folder), "--heartbeat-seconds", "0.2")
    yield running
    if running.process.poll() is None:
        assert running.close() == 0


_numbers = itertools.count(1)


@pytest.fixture
def new_job_id() -> Callable[[], str]:
    return lambda: job_id(next(_numbers))


@pytest.fixture
def session_path(tmp_path: Path) -> Path:
    def step(source: str, text: str) -> dict[str, Any]:
        return {"source": source, "text": text}

    steps = [
        step("user", "Why does parse_price drop 1,299.00?"),
        step("agent", "The comma is no digit, so the conversion fails."),
        step("user", "Please fix it."),
        step("agent", "Commas that group thousands are removed now, and the tests pass."),
    ]
    session = {
        "schema_version": 1,
        "session_id": "s1",
        "source": {"format": "native", "format_version": None, "agent": None, "model": None, "sha256": "0" * 64},
        "task_type": None,
        "outcome": "success",
        "outcome_signal": None,
        "started_at": None,
        "tools": [],
        "steps": steps,
        "bad_lines": 0,
        "dropped": [],
        "redactions": [],
    }
    path = tmp_path / "s1.json"
    path.write_text(json.dumps(session))
    return path


@pytest.fixture
def lora_spec(tiny_folder: Path, session_path: Path, tmp_path: Path) -> Spec:
    def make(out: str = "out", **changes: Any) -> dict[str, Any]:
        return {
            "session_path": str(session_path),
            "base_model": str(tiny_folder),
            "max_length": 256,
            "include_unsuccessful": False,
            "session_id": "s1",
            "adapter_id": "tiny-adapter",
            "output_dir": str(tmp_path / out),
            "base_model_name": "tiny",
            "task_type": "code-gen",
            "seed": 7,
            "epochs": 3,
            "rank": 4,
            "alpha": 8,
            "learning_rate": 0.01,
            "target_modules": None,
            "quantization": "nf4",
        } | changes

    return make
