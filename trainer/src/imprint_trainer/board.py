"""What waits, what runs, and what was cancelled."""

import queue
import threading
from dataclasses import dataclass, field
from typing import Literal

from imprint_trainer.protocol import ChatCall, Job

Task = Job | ChatCall
Name = tuple[Literal["job", "call"], str]


def name_of(task: Task) -> Name:
    return ("call", task.call_id) if isinstance(task, ChatCall) else ("job", task.job_id)


@dataclass
class Board:
    """Shared by the reader and the main thread. A task is waiting, running or forgotten."""

    _tasks: "queue.SimpleQueue[Task | None]" = field(default_factory=queue.SimpleQueue)
    _waiting: set[Name] = field(default_factory=set)
    _running: Name | None = None
    _cancel: threading.Event = field(default_factory=threading.Event)
    _lock: threading.RLock = field(default_factory=threading.RLock)  # a signal may arrive while it is held
    _closed: bool = False

    def add(self, task: Task) -> bool:
        """False for a task that is here already."""
        with self._lock:
            name = name_of(task)
            if name in self._waiting or name == self._running:
                return False
            self._waiting.add(name)
            self._tasks.put(task)
            return True

    def next(self) -> Task | None:
        """The next task that nobody cancelled; None when the worker is to end. Blocks."""
        while True:
            task = self._tasks.get()
            with self._lock:
                if task is None or self._closed:
                    return None
                name = name_of(task)
                if name in self._waiting:
                    self._waiting.discard(name)
                    self._running = name
                    self._cancel.clear()
                    return task

    def finish(self) -> None:
        with self._lock:
            self._running = None

    def cancel(self, name: Name) -> bool:
        """True when the task had not begun: it never will. A running task is asked to stop; others are unknown."""
        with self._lock:
            if name in self._waiting:
                self._waiting.discard(name)
                return True
            if name == self._running:
                self._cancel.set()
            return False

    def cancelled(self) -> bool:
        """Whether the running task is to stop."""
        return self._cancel.is_set()

    def close(self) -> None:
        """Nothing begins any more, and what runs is to stop."""
        with self._lock:
            self._closed = True
            self._cancel.set()
            self._tasks.put(None)
