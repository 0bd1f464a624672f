"""What waits, what runs, and what was cancelled."""

import threading
from collections import deque
from collections.abc import Callable
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

    _waiting: deque[Task] = field(default_factory=deque)
    _running: dict[Name, threading.Event] = field(default_factory=dict)  # set where it is to stop
    _changed: threading.Condition = field(
        default_factory=lambda: threading.Condition(threading.RLock())  # a signal may arrive while it is held
    )
    _closed: bool = False

    def add(self, task: Task) -> bool:
        """False for a task that is here already."""
        with self._changed:
            name = name_of(task)
            if name in self._running or any(name_of(one) == name for one in self._waiting):
                return False
            self._waiting.append(task)
            self._changed.notify_all()
            return True

    def next(self) -> Task | None:
        """The next task that nobody cancelled; None when the worker is to end. Blocks."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            return self._begin()

    def next_if(self, fits: Callable[[Task], bool]) -> Task | None:
        """The next task, where one waits and it fits."""
        with self._changed:
            return self._begin() if self._waiting and fits(self._waiting[0]) else None

    def finish(self, task: Task) -> None:
        with self._changed:
            del self._running[name_of(task)]

    def cancel(self, name: Name) -> bool:
        """True when the task had not begun: it never will. A running task is asked to stop; others are unknown."""
        with self._changed:
            if name in self._running:
                self._running[name].set()
            for task in self._waiting:
                if name_of(task) == name:
                    self._waiting.remove(task)
                    return True
            return False

    def cancelled(self, task: Task) -> bool:
        """Whether the running task is to stop."""
        return self._running[name_of(task)].is_set()

    def close(self) -> None:
        """Nothing begins any more, and what runs is to stop."""
        with self._changed:
            self._closed = True
            for stop in self._running.values():
                stop.set()
            self._changed.notify_all()

    def _begin(self) -> Task | None:
        if self._closed:
            return None
        task = self._waiting.popleft()
        self._running[name_of(task)] = threading.Event()
        return task
