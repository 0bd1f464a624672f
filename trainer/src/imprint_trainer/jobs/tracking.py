"""The numbers of a training, as they come, at an experiment tracker: Trackio, MLflow or W&B.

Each is reached by its own package, which is installed beside the trainer, and set by its own variables (`TRACKIO_*`,
`MLFLOW_*`, `WANDB_*`). One that is away, slow or broken is a line of the job's log: no training fails or waits for it.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from math import isfinite
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

from imprint_trainer.protocol import TrainLoraSpec

LAST_SECONDS = 30.0  # for what is not delivered yet when a training ends
SETTINGS = {
    "base_model_name",
    "profile",
    "rank",
    "alpha",
    "learning_rate",
    "epochs",
    "quantization",
    "seed",
    "task_type",
}
PROVED = ("loss_before", "loss_after", "neutral_loss_before", "neutral_loss_after")

Emit = Callable[[dict[str, Any]], None]


def numbers_of(values: dict[str, Any]) -> dict[str, float]:
    """Those that a tracker can draw; the step is told apart."""
    return {
        name: float(value)
        for name, value in values.items()
        if name != "step" and isinstance(value, int | float) and isfinite(value)
    }


class MlflowRun:
    def __init__(self, tracker: str, name: str, settings: dict[str, Any]) -> None:
        self._mlflow = import_module(tracker)
        self._mlflow.set_experiment(os.environ.get("MLFLOW_EXPERIMENT_NAME", "imprint"))
        self._mlflow.start_run(run_name=name)
        self._mlflow.log_params(settings)

    def log(self, numbers: dict[str, float], step: int) -> None:
        self._mlflow.log_metrics(numbers, step=step)

    def end(self, card: Path | None) -> None:
        if card is not None:
            self._mlflow.log_artifact(str(card))
        self._mlflow.end_run("FAILED" if card is None else "FINISHED")


class WandbRun:
    """Trackio has the same calls."""

    def __init__(self, tracker: str, name: str, settings: dict[str, Any]) -> None:
        self._library = import_module(tracker)
        self._name = name
        project = os.environ.get(f"{tracker.upper()}_PROJECT", "imprint")
        self._library.init(project=project, name=name, config=settings)

    def log(self, numbers: dict[str, float], step: int) -> None:
        self._library.log(numbers, step=step)

    def end(self, card: Path | None) -> None:
        if card is not None:
            self._library.log_artifact(str(card), name=f"{self._name}-card", type="card")
        self._library.finish()


@contextmanager
def tracked(tracker: str | None, spec: TrainLoraSpec, emit: Emit) -> Iterator[tuple[Emit, Emit]]:
    """An `emit` that the tracker hears too, and what tells it of the training's result. What leaves is numbers, the
    settings named above, the adapter's id and its card: nothing of a session."""
    if tracker is None:
        yield emit, lambda _result: None
        return
    waiting: SimpleQueue[Callable[[Any], None] | None] = SimpleQueue()

    def deliver() -> None:  # one thread: MLflow's run is a thread's own
        try:
            settings = spec.model_dump(mode="json", include=SETTINGS, exclude_none=True)
            run = (MlflowRun if tracker == "mlflow" else WandbRun)(tracker, spec.adapter_id, settings)
            while (tell := waiting.get()) is not None:
                tell(run)
        except Exception as error:
            print(f"{tracker} hears no more of this training: {type(error).__name__}: {error}", file=sys.stderr)

    last = 0
    card: Path | None = None

    def log(values: dict[str, Any]) -> None:
        numbers, step = numbers_of(values), last
        waiting.put(lambda run: run.log(numbers, step))

    def heard(event: dict[str, Any]) -> None:
        nonlocal last
        emit(event)
        if event["type"] == "progress":
            last = event["progress"]["step"]
            log(event["progress"])

    def ended(result: dict[str, Any]) -> None:
        nonlocal card
        log({name: result["proof"][name] for name in PROVED})
        card = Path(spec.output_dir) / "README.md"

    thread = Thread(target=deliver, name="tracker", daemon=True)
    thread.start()
    try:
        yield heard, ended
    finally:
        waiting.put(lambda run: run.end(card))
        waiting.put(None)
        thread.join(LAST_SECONDS)
        if thread.is_alive():
            print(f"{tracker} has not taken all of this training in {LAST_SECONDS:g} s", file=sys.stderr)
