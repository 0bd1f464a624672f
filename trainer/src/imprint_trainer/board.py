"""What waits, what runs, and what was cancelled."""

import queue
import threading
from dataclasses import dataclass, field

from imprint_trainer.protocol import ChatCall, Job


@dataclass
class Board:
    """Shared by the reader and the main thread. A job is waiting, running or forgotten."""

    _tasks: "queue.SimpleQueue[Job | ChatCall | None]" = field(default_factory=queue.SimpleQueue)
    _waiting: set[str] = field(default_factory=set)
    _running: str | None = None
    _cancel: threading.Event = field(default_factory=threading.Event)
    _lock: threading.RLock = field(default_factory=threading.RLock)  # a signal may arrive while it is held
    _closed: bool = False

    def add(self, task: Job | ChatCall) -> bool:
        """False for a job that is here already."""
        with self._lock:
            if not isinstance(task, ChatCall):
                if task.job_id in self._waiting or task.job_id == self._running:
                    return False
                self._waiting.add(task.job_id)
            self._tasks.put(task)
            return True

    def next(self) -> Job | ChatCall | None:
        """The next task that nobody cancelled; None when the worker is to end. Blocks."""
        while True:
            task = self._tasks.get()
            with self._lock:
                if task is None or self._closed:
                    return None
                if isinstance(task, ChatCall):
                    return task
                if task.job_id in self._waiting:
                    self._waiting.discard(task.job_id)
                    self._running = task.job_id
                    self._cancel.clear()
                    return task

    def finish(self) -> None:
        with self._lock:
            self._running = None

    def cancel(self, job_id: str) -> bool:
        """True when the job had not begun: it never will. A running job is asked to stop; others are unknown."""
        with self._lock:
            if job_id in self._waiting:
                self._waiting.discard(job_id)
                return True
            if job_id == self._running:
                self._cancel.set()
            return False

    def cancelled(self) -> bool:
        """Whether the running job is to stop."""
        return self._cancel.is_set()

    def close(self) -> None:
        """Nothing begins any more, and what runs is to stop."""
        with self._lock:
            self._closed = True
            self._cancel.set()
            self._tasks.put(None)
