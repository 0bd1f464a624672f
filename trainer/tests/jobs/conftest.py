from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from imprint_trainer.errors import Cancelled
from imprint_trainer.jobs.context import JobContext
from imprint_trainer.jobs.sweep import train_sweep
from imprint_trainer.lora import steps as planning
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.locate import tokenizer_of
from imprint_trainer.models.memory import PeakMemory
from imprint_trainer.protocol import TrainSweepSpec
from jobs.sweep_sessions import write_sessions


def trial(rank: int, learning_rate: float, epochs: int = 2) -> dict[str, Any]:
    return {"rank": rank, "alpha": 2.0 * rank, "learning_rate": learning_rate, "epochs": epochs}


FOUR = [trial(2, 1e-3), trial(2, 1e-2), trial(4, 1e-3), trial(4, 1e-2)]

Events = list[dict[str, Any]]
Spec = Callable[..., dict[str, Any]]
Run = Callable[..., dict[str, Any]]


@pytest.fixture
def sweep_spec(tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Spec:
    """Four sessions of which two are held out; `place` names the output folder and that of the checkpoints."""
    monkeypatch.setattr(planning, "STEP_TOKENS", 244)  # of 16 steps an epoch
    paths = write_sessions(tmp_path)

    def make(place: str = "one", start: str = "fresh", seconds: float = 3600, **changes: Any) -> dict[str, Any]:
        kept = tmp_path / f"{place}-kept"
        kept.mkdir(exist_ok=True)
        return {
            "session_paths": [str(path) for path in paths],
            "session_ids": [path.stem for path in paths],
            "skip_invalid": False,
            "unreadable": [],
            "base_model": str(tiny_folder),
            "profile": "learn",
            "holdout": ["s3", "s4"],
            "max_length": 256,
            "include_unsuccessful": False,
            "train_on": "all",
            "reasoning": False,
            "target_modules": None,
            "quantization": "none",
            "adapter_id": "a",
            "output_dir": str(tmp_path / place),
            "base_model_name": "tiny",
            "task_type": "code-gen",
            "seed": 7,
            "trials": FOUR,
            "early_stopping": "halving",
            "checkpoint": {"dir": str(kept), "seconds": float(seconds), "start": start},
        } | changes

    return make


@pytest.fixture
def context_of(base: LoadedBase) -> Callable[..., JobContext]:
    def make(events: Events, cancelled: Callable[[], bool] = lambda: False) -> JobContext:
        return JobContext(events.append, cancelled, lambda *_, **__: base, tokenizer_of, PeakMemory(base.device))

    return make


@pytest.fixture
def run(context_of: Callable[..., JobContext]) -> Run:
    """Runs a sweep to its end, or until `stop` says so of its events: then it answers nothing."""

    def go(spec: dict[str, Any], *, events: Events | None = None, stop: Callable[[Events], bool] | None = None) -> Any:
        told: Events = [] if events is None else events
        Path(spec["output_dir"]).mkdir(exist_ok=True)
        context = context_of(told, (lambda: stop(told)) if stop else (lambda: False))
        try:
            return train_sweep(TrainSweepSpec.model_validate(spec), context)
        except Cancelled:
            return {}

    return go
