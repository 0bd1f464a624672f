"""A member as the first process sees it: a child whose end is never missed."""

import contextlib
import queue
import signal
import subprocess
import sys
import threading
from typing import NoReturn

from pydantic import ValidationError

from imprint_trainer import errors
from imprint_trainer.errors import TrainerError, WorkerCrashed

from .members import News
from .messages import Failed, Order, answers

COMMAND = (sys.executable, "-m", "imprint_trainer", "member")
END_SECONDS = 2.0


class MemberProcess:
    """Its answers go to `news`. It logs where this process does, and ends when this process does."""

    def __init__(self, number: int, processes: int, news: "queue.SimpleQueue[News]") -> None:
        self.number = number
        self._name = f"process {number + 1} of {processes}"
        self._news = news
        self._child = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        threading.Thread(target=self._read, name=f"member {number}", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._child.pid

    def tell(self, order: Order) -> None:
        """One that is gone is heard of by its end."""
        assert self._child.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._child.stdin.write(order.model_dump_json().encode("ascii") + b"\n")
            self._child.stdin.flush()

    def raise_end(self) -> NoReturn:
        """Why it is gone. Raises WorkerCrashed."""
        code = self._child.wait()
        if code >= 0:
            raise WorkerCrashed(f"{self._name} ended with exit code {code}")
        name = signal.Signals(-code).name
        hint = ", as a system does when memory runs out" if name == "SIGKILL" else ""
        raise WorkerCrashed(f"{self._name} was ended by {name}{hint}")

    def raise_failure(self, failed: Failed) -> NoReturn:
        """As the error that it was there."""
        raise_as_it_was(self._name, failed)

    def close(self) -> None:
        """Gone when this returns."""
        with contextlib.suppress(OSError):
            if self._child.stdin is not None:
                self._child.stdin.close()
        try:
            self._child.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    def _read(self) -> None:
        assert self._child.stdout is not None
        with contextlib.suppress(ValidationError):  # what is no answer ends the training as its end does
            for line in self._child.stdout:
                self._news.put((self, answers.validate_json(line)))
        self._news.put((self, None))


def raise_as_it_was(name: str, failed: Failed) -> NoReturn:
    kinds = {
        kind.code: kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, TrainerError)
    }
    raise kinds.get(failed.code, TrainerError)(f"{name}: {failed.message}")
