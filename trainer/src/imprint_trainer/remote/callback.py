"""Tells the service that an attempt has something to read, so that it looks at once instead of at its next turn.

The files are what is true: nothing of them is told, and whether it arrives changes nothing but when they are read.
"""

import contextlib
import http.client
import json
import threading
from typing import Any
from urllib.parse import urlsplit

EVERY_SECONDS = 0.2  # news that come faster are told together
TIMEOUT_SECONDS = 2.0
END_SECONDS = 5.0  # for a name that nobody resolves
AGAIN_SECONDS = 10.0  # after a failure: a service that is gone costs the worker nothing
NO_CONTENT = 204


class Callback:
    """A line to the service. Never fails, and never waits but for a moment at its end."""

    def __init__(self, order: dict[str, Any]) -> None:
        self._order = order
        self._count = 0
        self._over = threading.Event()
        self._news = threading.Event()
        self._thread = threading.Thread(target=self._tell, daemon=True)
        self._thread.start()

    def news(self, count: int) -> None:
        """So many bytes of events are there."""
        self._count = count
        self._news.set()

    def ended(self) -> None:
        """The end is there; nothing is told afterwards."""
        self._over.set()
        self._news.set()
        self._thread.join(END_SECONDS)

    def _tell(self) -> None:
        told = 0
        while not self._over.is_set():
            self._news.wait()
            self._news.clear()
            if self._over.is_set() or self._count <= told:
                continue
            told = self._count
            heard = self._post(told, ended=False)
            self._over.wait(EVERY_SECONDS if heard else AGAIN_SECONDS)
        self._post(self._count, ended=True)

    def _post(self, count: int, *, ended: bool) -> bool:
        address = urlsplit(self._order["url"])
        kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        connection = kind(address.hostname or "", address.port, timeout=TIMEOUT_SECONDS)
        body = json.dumps({"attempt": self._order["attempt"], "bytes": count, "ended": ended})
        headers = {"content-type": "application/json", "authorization": f"Bearer {self._order['token']}"}
        with contextlib.closing(connection):
            try:
                connection.request(
                    "POST", address.path, body, headers
                )  # follows no redirect: the token goes nowhere else
                return connection.getresponse().status == NO_CONTENT
            except (OSError, ValueError, http.client.HTTPException):
                return False
