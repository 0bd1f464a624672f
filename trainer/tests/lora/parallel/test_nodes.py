"""The way to other nodes without a cluster: `npm run check-ray` takes it with one."""

import json
import os
import queue
import socket
import sys
from pathlib import Path

import pytest

from imprint_trainer.errors import OutOfMemory, WorkerCrashed
from imprint_trainer.lora.parallel.members import News
from imprint_trainer.lora.parallel.messages import Failed, Gather, Loaded
from imprint_trainer.lora.parallel.nodes import Nodes, nodes_of
from imprint_trainer.remote.nodes import Carrier
from imprint_trainer.remote.nodes_link import DESCRIPTOR, other_nodes

SOURCES = str(Path(__file__).parents[3] / "src")
ECHO = "import sys; [print(line, end='', flush=True) for line in sys.stdin]; sys.exit(3)"


def test_a_carrier_hands_lines_over_in_their_order_and_tells_how_a_member_ended() -> None:
    carrier = Carrier([sys.executable, "-c", ECHO], {})
    carrier.start(1)
    for number in range(20):
        carrier.tell(1, str(number))
    carrier.close(1)
    heard: list[dict[str, object]] = []
    while not heard or "end" not in heard[-1]:
        heard += carrier.news()
    assert [one["answer"] for one in heard[:-1]] == [f"{number}\n" for number in range(20)]
    assert heard[-1] == {"number": 1, "end": "it ended with exit code 3"}


def test_members_of_other_nodes_are_told_and_heard_over_one_socket_and_all_end_with_it() -> None:
    ours, theirs = socket.socketpair()
    news: queue.SimpleQueue[News] = queue.SimpleQueue()
    nodes = Nodes(ours, processes=1)
    second, third = nodes.launch(1, 3, news), nodes.launch(2, 3, news)
    second.tell(Gather(block=7))
    with theirs, theirs.makefile("rwb") as there:
        assert [json.loads(there.readline()) for _ in range(2)] == [
            {"number": 1, "node": 0, "nodes": 2},
            {"number": 2, "node": 1, "nodes": 2},
        ]
        assert json.loads(json.loads(there.readline())["order"]) == {"type": "gather", "block": 7}
        there.write(json.dumps({"number": 2, "answer": Loaded().model_dump_json()}).encode() + b"\n")
        failed = Failed(code="OUT_OF_MEMORY", message="memory ran out")
        there.write(json.dumps({"number": 1, "answer": failed.model_dump_json()}).encode() + b"\n")
        there.write(json.dumps({"number": 1, "end": "it ended with exit code 1"}).encode() + b"\n")
        there.flush()
        assert [news.get() for _ in range(3)] == [(third, Loaded()), (second, failed), (second, None)]
        with pytest.raises(OutOfMemory, match=r"^process 2 of 3, on another node: memory ran out$"):
            second.raise_failure(failed)
    ours.shutdown(socket.SHUT_RDWR)
    assert news.get() == (third, None)
    with pytest.raises(WorkerCrashed, match=r"^process 3 of 3, on another node: what starts processes there is gone$"):
        third.raise_end()


def test_an_interpreter_without_ray_is_told_of_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", SOURCES)
    with other_nodes({"python": sys.executable, "cpus": 1, "gpus": 0}, {}) as link:
        inherited = {DESCRIPTOR: str(os.dup(int(link.env[DESCRIPTOR])))}
        nodes = nodes_of(inherited, processes=1)
        assert nodes is not None
        with pytest.raises(WorkerCrashed, match="No module named 'ray': ray_launcher names an interpreter that has it"):
            nodes.address()
    assert nodes_of({}, processes=1) is None
