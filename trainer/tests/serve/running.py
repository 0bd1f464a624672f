"""A real worker process, spoken to as the service speaks to it."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from schema import SCHEMAS, faults

SOURCES = Path(__file__).parents[2] / "src"
WAIT_SECONDS = 120  # for anything; a signal is waited for, never slept for


class RunningWorker:
    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "imprint_trainer", "serve", "--device", "cpu", "--threads", "1", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(SOURCES)},
        )
        self.events: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.stderr: list[str] = []
        self.drained = threading.Event()  # all of stderr is there
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._drain, daemon=True).start()
        self.ready = self.until(lambda event: event["type"] == "ready")

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            event = json.loads(line)
            wrong = faults(event, SCHEMAS["WorkerEvent"], event.get("type", "?"))
            self.events.put({"type": "INVALID", "faults": wrong} if wrong else event)
        self.events.put(None)

    def _drain(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.stderr.append(line.decode())
        self.drained.set()

    def send(self, request: dict[str, Any] | bytes) -> None:
        assert self.process.stdin
        line = request if isinstance(request, bytes) else json.dumps(request).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def collect(self, last: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
        """Events up to and with the first that is `last`; heartbeats left out."""
        found = []
        while True:
            event = self.events.get(timeout=WAIT_SECONDS)
            assert event is not None, f"the worker ended: {''.join(self.stderr[-20:])}"
            assert event["type"] != "INVALID", event
            if last(event):
                return [*found, event]
            if event["type"] != "heartbeat":
                found.append(event)

    def until(self, last: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        return self.collect(last)[-1]

    def job(self, job_id: str, spec: dict[str, Any], kind: str = "train_lora") -> list[dict[str, Any]]:
        self.send({"type": kind, "job_id": job_id, "spec": spec})
        return self.collect(
            lambda event: event.get("job_id") == job_id and event["type"] in ("done", "failed", "cancelled")
        )

    def call(self, kind: str, spec: dict[str, Any], call_id: str = "c1") -> dict[str, Any]:
        shown = {"window": None, "tokens_per_second": None} if kind == "preview" else {}
        self.send({"type": kind, "call_id": call_id, "spec": spec, **shown})
        return self.until(lambda event: event.get("call_id") == call_id and event["type"] != "prompt")

    def close(self) -> int:
        """Ends stdin; the exit status."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(timeout=5)


@contextmanager
def running_worker(*arguments: str) -> Iterator[RunningWorker]:
    """Ends well, unless a test has ended it."""
    running = RunningWorker(*arguments)
    yield running
    if running.process.poll() is None:
        assert running.close() == 0


def is_progress(event: dict[str, Any]) -> bool:
    return event["type"] == "progress"


def job_id(number: int) -> str:
    return f"{number:026d}"
