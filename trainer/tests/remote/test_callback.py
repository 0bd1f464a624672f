"""What a supervisor tells the service: to a server of a few lines."""

import http.server
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.remote.test_carrier import CARRY, NAME, env
from tests.remote.test_run_task import READY, attempt, order, start

from imprint_trainer.remote.callback import Callback
from imprint_trainer.remote.carrier import Carrier
from imprint_trainer.remote.fetch import Store, fetch

__all__ = ["attempt", "env"]  # fixtures


class Service(http.server.ThreadingHTTPServer):
    """Notes what it is told, and answers `status`."""

    status = 204

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.told: list[dict[str, Any]] = []
        self.tokens: set[str | None] = set()
        self.heard = threading.Condition()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/cluster/news"

    def wait(self, count: int) -> None:
        with self.heard:
            assert self.heard.wait_for(lambda: len(self.told) >= count, 20)


class Handler(http.server.BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.heard:
            self.server.told.append(body)
            self.server.tokens.add(self.headers["authorization"])
            self.server.heard.notify_all()
        self.send_response(self.server.status)
        self.send_header("location", self.path)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def service() -> Iterator[Service]:
    server = Service()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def line(address: str) -> dict[str, Any]:
    return {"url": address, "token": "secret", "attempt": "a"}


def test_a_supervisor_tells_what_is_there_and_at_last_that_the_end_is(attempt: Path, service: Service) -> None:
    order(attempt, READY + 'input(); print(\'{"type":"done"}\', flush=True)', callback=line(service.address))
    process = start(attempt)
    service.wait(2)
    assert process.wait(30) == 0
    events = (attempt / "events.ndjson").stat().st_size
    assert service.told[-1] == {"attempt": "a", "bytes": service.told[-1]["bytes"], "ended": True}
    assert service.told[-1]["bytes"] <= events
    assert [one["ended"] for one in service.told[:-1]] == [False] * (len(service.told) - 1)
    assert service.tokens == {"Bearer secret"}
    assert (attempt / "end.json").exists()
    assert "secret" not in (attempt / "log.txt").read_text()


def test_news_that_come_fast_are_told_together_and_always_grow(service: Service) -> None:
    callback = Callback(line(service.address))
    for count in range(1, 2000):
        callback.news(count)
    service.wait(1)
    callback.ended()
    counts = [one["bytes"] for one in service.told]
    assert counts == sorted(counts)
    assert counts[-1] == 1999
    assert len(counts) <= 4


@pytest.mark.parametrize("status", [302, 401, 500])
def test_a_service_that_refuses_or_points_elsewhere_is_asked_no_further(service: Service, status: int) -> None:
    service.status = status
    callback = Callback(line(service.address))
    callback.news(1)
    service.wait(1)
    callback.news(2)  # it would be told in a while
    callback.ended()
    assert [one["ended"] for one in service.told] == [False, True]


def test_with_an_object_store_the_end_is_told_once_it_is_there(
    env: dict[str, str], service: Service, tmp_path: Path
) -> None:
    fetch(env)
    (tmp_path / "there" / NAME / "events.ndjson").mkdir()
    here = Path(env["IMPRINT_ATTEMPT"])
    (here / "events.ndjson").write_text("{}\n")
    (here / "end.json").write_text("{}")
    carrier = Carrier(here, NAME, Store(env), CARRY, Callback(line(service.address)))
    carrier.start()
    assert carrier.finish(0) == 0
    assert service.told[-1] == {"attempt": "a", "bytes": 3, "ended": True}
    assert (tmp_path / "there" / NAME / "end.json").exists()


def test_a_service_that_takes_no_calls_costs_the_attempt_nothing(attempt: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    order(
        attempt, READY + 'input(); print(\'{"type":"done"}\', flush=True)', callback=line(f"http://127.0.0.1:{port}/x")
    )
    begun = time.monotonic()
    assert start(attempt).wait(30) == 0
    assert time.monotonic() - begun < 10
    assert json.loads((attempt / "end.json").read_text())["how"]["type"] in ("settled", "exited")
