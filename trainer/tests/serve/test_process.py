"""How the process begins, bears with bad input, and ends."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from serve.conftest import Spec
from serve.running import SOURCES, RunningWorker, is_progress

STRAY = """
import ctypes, os, subprocess, sys
from imprint_trainer.channel import seize_stdout
channel = seize_stdout(on_closed=lambda: os._exit(3))
print("python's print")
os.write(1, b"descriptor 1\\n")
ctypes.CDLL(None).puts(b"a C library")
ctypes.CDLL(None).fflush(None)
subprocess.run([sys.executable, "-c", "print('a child')"], check=True)
channel.send({"type": "heartbeat"})
try:
    channel.send({"loss": float("nan")})
except ValueError:
    channel.send({"type": "refused"})
"""


def test_whatever_prints_nothing_but_events_reaches_stdout() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STRAY], capture_output=True, env=os.environ | {"PYTHONPATH": str(SOURCES)}, check=True
    )
    assert [json.loads(line) for line in done.stdout.splitlines()] == [{"type": "heartbeat"}, {"type": "refused"}]
    for words in (b"python's print", b"descriptor 1", b"a C library", b"a child"):
        assert words in done.stderr


BAD_LINES = [
    b"not json",
    b"{",
    b"[]",
    b"null",
    b"1",
    b'"text"',
    b"\xff\xfe",
    b"\x00",
    b"[" * 100_000,
    b'{"type": "dance"}',
    b'{"type": "cancel", "job_id": "../../etc"}',
    b'{"type": "cancel", "job_id": NaN}',
    b'{"type": "preview", "call_id": "x", "spec": {"max_length": Infinity}, "window": null, "tokens_per_second": null}',
    b"x" * (17 * 2**20),
]


def test_malformed_lines_are_answered_and_never_fatal(worker: RunningWorker) -> None:
    for line in BAD_LINES:
        worker.send(line)
        answer = worker.until(lambda event: event["type"] == "call_failed")
        assert (answer["call_id"], answer["error"]["code"]) == ("", "WORKER_PROTOCOL"), line[:40]


def test_a_malformed_job_fails_as_that_job_and_names_the_field(
    worker: RunningWorker, lora_spec: Spec, new_job_id: Callable[[], str]
) -> None:
    for changes, field in [
        ({"rank": "16"}, "rank"),
        ({"rank": True}, "rank"),
        ({"seed": 1.5}, "seed"),
        ({"extra": 1}, "extra"),
    ]:
        last = worker.job(new_job_id(), lora_spec(**changes))[-1]
        assert last["type"] == "failed"
        assert f"spec.{field}" in last["error"]["message"]


def test_a_malformed_call_fails_as_that_call(worker: RunningWorker) -> None:
    answer = worker.call("preview", {"max_length": 3}, call_id="p7")
    assert (answer["type"], answer["error"]["code"]) == ("call_failed", "WORKER_PROTOCOL")


def test_heartbeats_come_while_nothing_happens(worker: RunningWorker) -> None:
    for _ in range(2):
        worker.until(lambda event: event["type"] == "heartbeat")


def test_the_end_of_stdin_ends_an_idle_worker_and_one_that_imports() -> None:
    assert RunningWorker("--no-warm").close() == 0
    assert RunningWorker().close() == 0


@pytest.fixture
def busy(tiny_folder: Path, lora_spec: Spec, new_job_id: Callable[[], str]) -> tuple[RunningWorker, Path]:
    """A worker in the middle of a training."""
    worker, spec = RunningWorker(), lora_spec(epochs=100)
    worker.send({"type": "train_lora", "job_id": new_job_id(), "spec": spec})
    worker.until(is_progress)
    return worker, Path(spec["output_dir"])


def test_the_end_of_stdin_ends_a_worker_in_mid_training(busy: tuple[RunningWorker, Path]) -> None:
    worker, _ = busy
    assert worker.close() == 0


def test_a_term_ends_a_worker_cleanly(busy: tuple[RunningWorker, Path]) -> None:
    worker, folder = busy
    worker.process.send_signal(signal.SIGTERM)
    worker.until(lambda event: event["type"] == "cancelled")
    assert worker.process.wait(timeout=10) == 0
    assert list(folder.iterdir()) == []


def test_a_reader_that_goes_away_ends_the_worker(busy: tuple[RunningWorker, Path]) -> None:
    worker, _ = busy
    os.kill(worker.process.pid, signal.SIGSTOP)
    assert worker.process.stdout
    worker.process.stdin.close()  # type: ignore[union-attr]
    os.kill(worker.process.pid, signal.SIGCONT)
    assert worker.process.wait(timeout=5) == 0


@pytest.mark.parametrize(
    "arguments", [["serve", "--heartbeat-seconds", "0"], ["serve", "--colour"], [], ["serve", "--threads", "x"]]
)
def test_wrong_arguments_end_with_status_2_and_a_sentence(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "imprint_trainer", *arguments],
        capture_output=True,
        env=os.environ | {"PYTHONPATH": str(SOURCES)},
        check=False,
    )
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""
