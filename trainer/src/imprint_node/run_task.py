"""`python -m imprint_node FOLDER`: what an engine starts for one attempt at a job.

The worker is a child that speaks the protocol of docs/operations.md; this process carries its lines between it and
the attempt's folder, and writes last how it ended. It imports nothing that takes memory.
"""

import contextlib
import errno
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from imprint_node.folder import EVENTS, LOG, Fenced, Folder, listed
from imprint_node.pump import Events, copy_log

POLL_SECONDS = 0.2
SETTLE_SECONDS = 0.05  # a worker that dies this soon after a result takes the result with it
DRAIN_SECONDS = 2.0  # for pipes that a runaway descendant still holds open
# No tokens, no credentials of clouds: an engine gives its jobs all that it has, its own token too.
ALLOWED = frozenset(
    {
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "TMP",
        "TEMP",
        "CUDA_VISIBLE_DEVICES",
        "CUDA_DEVICE_ORDER",
        "CUDA_HOME",
        "NVIDIA_VISIBLE_DEVICES",
        "HIP_VISIBLE_DEVICES",
        "ROCR_VISIBLE_DEVICES",
        "LD_LIBRARY_PATH",
        "PYTORCH_ALLOC_CONF",
        "PYTORCH_CUDA_ALLOC_CONF",
        "HF_HOME",
        "HF_HUB_CACHE",
        "XDG_CACHE_HOME",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "PYTHONPATH",
    }
)


def main(argv: list[str]) -> int:
    if len(argv) != 1:
        print("It takes the folder of an attempt.", file=sys.stderr)
        return 2
    path = Path(argv[0])
    folder = Folder(path)
    if "IMPRINT_STORE" not in os.environ:
        return Supervisor(folder).run()
    # Loaded where it is used: a node that sees the storage needs none of it.
    from imprint_node.carrier import Carrier
    from imprint_node.fetch import Store

    name = path.relative_to(os.environ["IMPRINT_COPY"]).as_posix()
    carrier = Carrier(path, name, Store(os.environ), folder.attempt["carry"])
    carrier.start()
    return carrier.finish(Supervisor(folder).run())


class Supervisor:
    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._attempt = folder.attempt
        self._term = threading.Event()
        self._killed_at: float | None = None
        self._because: str | None = None

    def run(self) -> int:
        """The exit status is 0 where the end was written, however the worker ended."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._term.set())
        try:
            self._folder.reserve()
            if self._folder.stop() is None:
                self._supervise()
            else:
                self._end({"type": "never"}, None)
        except (Fenced, FileNotFoundError):
            print("The attempt's folder is gone: another attempt has taken its place.", file=sys.stderr)
            return 3
        return 0

    def _supervise(self) -> None:
        command = self._attempt["command"]
        env = {name: os.environ[name] for name in ALLOWED if name in os.environ} | self._attempt["env"]
        events = Events(self._folder.path / EVENTS, on_full=lambda: self._kill("disk_full"))
        try:
            self._child = subprocess.Popen(
                command,
                env=env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            self._end({"type": "not_started", "code": errno.errorcode.get(error.errno or 0, "unknown error")}, events)
            return
        pumps = [
            threading.Thread(target=events.copy, args=(self._child.stdout,), daemon=True),
            threading.Thread(target=copy_log, args=(self._child.stderr, self._folder.path / LOG), daemon=True),
        ]
        for pump in pumps:
            pump.start()
        try:
            settled = self._watch(events)
        except Fenced:
            self._signal(signal.SIGKILL)
            raise
        finally:
            # What the worker started and left behind goes too; its exit status is not touched by that.
            self._child.wait()
            self._signal(signal.SIGKILL)
        for pump in pumps:
            pump.join(DRAIN_SECONDS)
        code = self._child.returncode
        signalled = signal.Signals(-code).name if code < 0 else None
        exited = {"type": "exited", "code": code if code >= 0 else None, "signal": signalled}
        self._end({"type": "settled"} if settled else exited, events)

    def _watch(self, events: Events) -> bool:
        """Returns when the worker is gone: whether it was sent home after its verdict."""
        taken = 0
        begun = time.monotonic()
        while self._child.poll() is None:
            if events.verdict:
                return self._send_home()
            if how := "term" if self._term.is_set() else self._folder.stop():
                self._stop(how)
            elif not events.ready and time.monotonic() - begun > self._attempt["start_seconds"]:
                self._kill("not_ready")
            if events.ready:
                for request in self._folder.requests_after(taken):
                    taken += 1
                    self._write(request)
            events.news.wait(POLL_SECONDS)
            events.news.clear()
        return False

    def _send_home(self) -> bool:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(SETTLE_SECONDS)
            return False
        self._stop("term")
        grace = self._attempt["grace_seconds"]
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(grace)
            return True
        self._signal(signal.SIGKILL)
        return True

    def _stop(self, how: str) -> None:
        if self._killed_at is None:
            self._killed_at = time.monotonic()
            with contextlib.suppress(OSError):
                if self._child.stdin is not None:
                    self._child.stdin.close()
            self._signal(signal.SIGTERM)
        if how == "kill" or time.monotonic() - self._killed_at > self._attempt["grace_seconds"]:
            self._signal(signal.SIGKILL)

    def _kill(self, because: str) -> None:
        self._because = self._because or because
        self._signal(signal.SIGKILL)

    def _write(self, request: bytes) -> None:
        with contextlib.suppress(OSError, ValueError):  # its exit says it better
            if self._child.stdin is not None:
                self._child.stdin.write(request.strip() + b"\n")
                self._child.stdin.flush()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, number)

    def _end(self, how: dict[str, Any], events: Events | None) -> None:
        log = self._folder.path / LOG
        self._folder.end(
            {
                "token": self._attempt["token"],
                "job_id": self._attempt["job_id"],
                "how": how,
                "because": self._because,
                "events": {
                    "bytes": 0 if events is None else events.bytes,
                    "sha256": hashlib.sha256().hexdigest() if events is None else events.sha256,
                },
                "log_bytes": log.stat().st_size if log.is_file() else 0,
                "files": listed(self._folder.path / "output"),
            }
        )
