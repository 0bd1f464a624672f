"""The supervisor of an attempt, as a process, with workers of a few lines."""

import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from imprint_node.folder import Folder, listed
from imprint_node.pump import kind_of

SOURCES = Path(__file__).parents[2] / "src"
READY = 'print(\'{"type":"ready"}\', flush=True)\n'


@pytest.fixture
def attempt(tmp_path: Path) -> Path:
    (tmp_path / "requests").mkdir()
    (tmp_path / "output").mkdir()
    return tmp_path


def order(folder: Path, program: str, **more: Any) -> None:
    (folder / "requests" / "0000.json").write_text('{"type":"train_lora"}')
    whole = {
        "token": "t",
        "job_id": "j",
        "command": [sys.executable, "-c", program],
        "env": {"GIVEN": "yes"},
        "grace_seconds": 0.2,
        "start_seconds": 20,
        **more,
    }
    (folder / "attempt.json").write_text(json.dumps(whole))


def start(folder: Path, **options: Any) -> "subprocess.Popen[bytes]":
    env = {**os.environ, "PYTHONPATH": str(SOURCES), "RAY_AUTH_TOKEN": "secret"}
    command = [sys.executable, "-m", "imprint_node", str(folder)]
    return subprocess.Popen(command, env=env, **options)


def end_of(folder: Path, **options: Any) -> dict[str, Any]:
    assert start(folder, **options).wait(30) == 0
    end: dict[str, Any] = json.loads((folder / "end.json").read_text())
    return end


def appears(path: Path) -> None:
    deadline = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < deadline, path.name
        threading.Event().wait(0.01)


def test_a_worker_that_is_done_is_sent_home_and_its_files_are_hashed(attempt: Path) -> None:
    (attempt / "output" / "a.bin").write_bytes(b"abc")
    (attempt / "output" / "link").symlink_to("/etc/hostname")
    order(attempt, READY + 'input(); print(\'{"type":"done"}\', flush=True); import time; time.sleep(60)')
    end = end_of(attempt)
    events = (attempt / "events.ndjson").read_bytes()
    assert end["how"] == {"type": "settled"}
    assert (end["token"], end["job_id"], end["because"]) == ("t", "j", None)
    assert end["events"] == {"bytes": len(events), "sha256": hashlib.sha256(events).hexdigest()}
    assert end["files"] == [{"name": "a.bin", "size": 3, "sha256": hashlib.sha256(b"abc").hexdigest()}]


def test_it_is_given_its_task_once_it_is_ready_and_no_token_of_the_engine(attempt: Path) -> None:
    order(attempt, READY + "import os, sys; sys.stderr.write(input() + repr(dict(os.environ)))")
    assert end_of(attempt)["how"] == {"type": "exited", "code": 0, "signal": None}
    log = (attempt / "log.txt").read_text()
    assert log.startswith('{"type":"train_lora"}')
    assert "'GIVEN': 'yes'" in log
    assert "secret" not in log


@pytest.mark.parametrize(
    ("program", "how"),
    [
        ("import os; os._exit(3)", {"type": "exited", "code": 3, "signal": None}),
        ("import os; os.kill(os.getpid(), 11)", {"type": "exited", "code": None, "signal": "SIGSEGV"}),
    ],
)
def test_a_worker_that_dies_leaves_its_exit_status(attempt: Path, program: str, how: object) -> None:
    order(attempt, program)
    assert end_of(attempt)["how"] == how


def test_a_worker_that_dies_right_after_its_result_takes_it_along(attempt: Path) -> None:
    order(attempt, 'import os; print(\'{"type":"done"}\', flush=True); os._exit(4)')
    assert end_of(attempt)["how"] == {"type": "exited", "code": 4, "signal": None}


def test_a_program_that_is_not_there_is_named_so(attempt: Path) -> None:
    order(attempt, "", command=["/nowhere/python"])
    assert end_of(attempt)["how"] == {"type": "not_started", "code": "ENOENT"}


def test_an_attempt_that_was_stopped_before_it_began_starts_nothing(attempt: Path) -> None:
    order(attempt, "raise SystemExit(9)")
    (attempt / "stop.json").write_text('{"how":"term"}')
    assert end_of(attempt)["how"] == {"type": "never"}
    assert not (attempt / "events.ndjson").exists()


def test_a_worker_that_is_not_ready_in_time_is_killed(attempt: Path) -> None:
    order(attempt, "import time; time.sleep(60)", start_seconds=0.3)
    end = end_of(attempt)
    assert end["because"] == "not_ready"
    assert end["how"]["signal"] == "SIGKILL"


STUBBORN = READY + "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"


@pytest.mark.parametrize("how", ["file", "signal"])
def test_a_stop_ends_a_worker_that_does_not_want_to(attempt: Path, how: str) -> None:
    order(attempt, STUBBORN)
    process = start(attempt)
    appears(attempt / "events.ndjson")
    if how == "file":
        (attempt / "stop.json").write_text('{"how":"kill"}')
    else:
        process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    assert json.loads((attempt / "end.json").read_text())["how"]["type"] == "exited"


def test_an_attempt_whose_folder_is_gone_is_fenced_and_kills_its_worker(attempt: Path) -> None:
    order(attempt, f"import os; open({str(attempt / 'pid')!r}, 'w').write(str(os.getpid()))\n" + STUBBORN)
    process = start(attempt)
    appears(attempt / "pid")
    while not (text := (attempt / "pid").read_text()):
        pass
    (attempt / "attempt.json").unlink()
    assert process.wait(30) == 3
    with pytest.raises(ProcessLookupError):
        os.kill(int(text), 0)
    assert not (attempt / "end.json").exists()


def test_a_disk_that_fills_up_ends_the_worker_and_the_end_still_fits(attempt: Path) -> None:
    order(attempt, READY + "while True: print('x' * 65536, flush=True)")

    def few_bytes() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))

    end = end_of(attempt, preexec_fn=few_bytes)
    assert end["because"] == "disk_full"
    assert end["events"]["bytes"] == (attempt / "events.ndjson").stat().st_size <= 2**20


def test_a_log_beyond_its_bound_is_cut_and_never_blocks(attempt: Path) -> None:
    order(attempt, "import sys; sys.stderr.write('x' * 2**20)")
    assert end_of(attempt)["log_bytes"] == 2**20


def test_lines_that_are_no_events_are_nothing_to_it() -> None:
    assert [kind_of(line) for line in (b"{", b"[]", b"\xff", b'{"type":"done"}', b"[" * 100_000)] == [
        None,
        None,
        None,
        "done",
        None,
    ]


def test_a_folder_without_output_lists_nothing(attempt: Path) -> None:
    order(attempt, "")
    assert listed(attempt / "nothing") == []
    assert Folder(attempt).requests_after(1) == []
