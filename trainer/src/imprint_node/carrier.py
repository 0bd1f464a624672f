"""Carries files between an attempt's folder on this machine, in which its supervisor works, and an object store."""

import contextlib
import shutil
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from imprint_node.fetch import GONE, REFUSED_SECONDS, Gone, Store, patiently, refusal
from imprint_node.folder import ATTEMPT, END, EVENTS, LOG, REQUESTS, STOP
from imprint_node.segments import Segments

CHECKPOINT_STATE = "checkpoint.json"


class Carrier:
    """Orders come here, events and checkpoints go there; at the end the results do, and after all else `end.json`."""

    def __init__(self, folder: Path, name: str, store: Store, carry: dict[str, Any]) -> None:
        self._folder = folder
        self._name = name
        self._store = store
        self._poll = float(carry["poll_seconds"])
        self._patience = float(carry["patience_seconds"])
        self._requests = sum(1 for path in (folder / REQUESTS).iterdir() if path.is_file())
        told = len(store.names(f"{name}/{LOG}"))
        self._growing = [
            Segments(folder / EVENTS, self._putting(EVENTS)),
            Segments(folder / LOG, self._putting(LOG), sent=told),
        ]
        self._sent: dict[str, tuple[int, int]] = {}  # files of the checkpoint, by their size and time
        self._state = b""
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=self._repeat, args=(step,), daemon=True) for step in (self._news, self._checkpoint)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def finish(self, status: int) -> int:
        """Sends what the supervisor left; answers the exit status. The copy on this machine is removed."""
        self._over.set()
        for thread in self._threads:
            thread.join()
        try:
            if status == GONE:
                raise Gone
            what = "the results could not be stored"
            if status == 0:
                status = patiently(self._results, what, patience=self._patience, poll=self._poll)
            return status
        except Gone:
            with contextlib.suppress(Exception):  # of whatever client the store has
                self._store.remove(self._name, self._store.names(self._name))
            print("The attempt's folder is gone: another attempt has taken its place.", file=sys.stderr)
            return GONE
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _repeat(self, step: Callable[[], None]) -> None:
        """A store that does not answer is asked for ever; one that refuses, or lost the attempt, ends the worker."""
        refused: float | None = None
        while not self._over.wait(self._poll):
            try:
                step()
                refused = None
            except Gone:
                (self._folder / ATTEMPT).unlink(missing_ok=True)  # the supervisor sees it as on a folder of both sides
                return
            except Exception as error:  # of whatever client the store has
                refused = None if refusal(error) is None else refused or time.monotonic()
                if refused and time.monotonic() - refused > REFUSED_SECONDS:
                    place(self._folder / STOP, b'{"how":"kill"}')
                    return

    def _putting(self, file: str) -> Callable[[int, bytes], None]:
        return lambda number, content: self._store.put(f"{self._name}/{file}/{number:06d}", content)

    def _news(self) -> None:
        """What the service says, then what the worker said. Raises Gone."""
        self._require_attempt()
        stop = self._store.read(f"{self._name}/{STOP}")
        if stop is not None:
            place(self._folder / STOP, stop)
        while (request := self._store.read(f"{self._name}/{REQUESTS}/{self._requests:04d}.json")) is not None:
            place(self._folder / REQUESTS / f"{self._requests:04d}.json", request)
            self._requests += 1
        for one in self._growing:
            one.carry()

    def _require_attempt(self) -> None:
        if self._store.read(f"{self._name}/{ATTEMPT}") is None:
            raise Gone

    def _checkpoint(self) -> None:
        """The weights, then the state that names them: whoever resumes finds the one before, or this one."""
        folder = self._folder / "checkpoint"
        state = content_of(folder / CHECKPOINT_STATE)
        if state is None or state == self._state:
            return
        names = [path.name for path in folder.iterdir() if is_plain(path) and path.name != CHECKPOINT_STATE]
        for name in names:
            self._send(folder / name, f"checkpoint/{name}")
        if content_of(folder / CHECKPOINT_STATE) != state:
            return  # the worker was faster: the next round has the newer one
        self._store.put(f"{self._name}/checkpoint/{CHECKPOINT_STATE}", state)
        self._state = state
        kept = {*names, CHECKPOINT_STATE}
        old = [name for name in self._store.names(f"{self._name}/checkpoint") if name not in kept]
        self._store.remove(f"{self._name}/checkpoint", old)

    def _results(self) -> None:
        self._news()
        self._checkpoint()
        for path in (self._folder / "output").iterdir():
            if is_plain(path):
                self._send(path, f"output/{path.name}")
        self._store.put(f"{self._name}/{END}", (self._folder / END).read_bytes())
        self._require_attempt()  # taken back meanwhile, it would lie there for ever

    def _send(self, path: Path, name: str) -> None:
        status = path.stat()
        mark = (status.st_size, status.st_mtime_ns)
        if self._sent.get(name) != mark:
            self._store.put_file(path, f"{self._name}/{name}")
            self._sent[name] = mark


def is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and not path.name.startswith(".") and path.suffix != ".part"


def content_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def place(path: Path, content: bytes) -> None:
    """Whole or not there: the supervisor reads it meanwhile."""
    part = path.with_name(f".{path.name}")
    part.write_bytes(content)
    part.replace(path)
