"""Members on other nodes, as the first process sees them: their pipes end at a program that Ray's interpreter runs.

The supervisor of an attempt (imprint_trainer.remote) has started that program, whose socket is a descriptor of this
process: lines of JSON, `{"number", "order"}` there and `{"number", "answer"}` or `{"number", "end"}` back.
"""

import contextlib
import json
import queue
import socket
import threading
from collections.abc import Mapping
from typing import Any, NoReturn

from pydantic import ValidationError

from imprint_trainer.errors import WorkerCrashed

from .members import Launch, Member, News
from .messages import Failed, Order, answers
from .process import MemberProcess, raise_as_it_was

DESCRIPTOR = "IMPRINT_NODES_FD"
END_SECONDS = 5.0  # its node ends it then, or is gone
GONE = "what starts processes there is gone"


class Nodes:
    """`processes` of each node; those of this one are its children. `address`: of this node, for the others."""

    def __init__(self, link: socket.socket, *, processes: int) -> None:
        self._link = link
        self._processes = processes
        self._sending = threading.Lock()
        self._members: dict[int, NodeMember] = {}
        self._lines = link.makefile("rb")
        self._listening = False
        self._address: str | None = None

    def address(self) -> str:
        """Raises WorkerCrashed where Ray does not answer there."""
        if self._address is None:
            self.send({"hello": True})
            line = self._lines.readline()
            if not line:
                raise WorkerCrashed(GONE)
            said: dict[str, Any] = json.loads(line)
            if "address" not in said:
                raise WorkerCrashed(str(said.get("end", GONE)))
            self._address = str(said["address"])
        return self._address

    def launch(self, number: int, processes: int, news: "queue.SimpleQueue[News]") -> Member:
        """On its node, `number` by so many a node."""
        if number < self._processes:
            return MemberProcess(number, processes, news)
        member = NodeMember(number, processes, news, self)
        self._members[number] = member
        if not self._listening:
            self._listening = True
            threading.Thread(target=self._listen, name="nodes", daemon=True).start()
        node, nodes = number // self._processes, -(-processes // self._processes)
        self.send({"number": number, "node": node - 1, "nodes": nodes - 1})
        return member

    def send(self, message: Mapping[str, Any]) -> None:
        with self._sending, contextlib.suppress(OSError):
            self._link.sendall(json.dumps(message).encode("ascii") + b"\n")

    def _listen(self) -> None:
        for line in self._lines:
            said = json.loads(line)
            self._members[said["number"]].hear(said)
        for member in self._members.values():
            member.hear({"end": GONE})


class NodeMember:
    def __init__(self, number: int, processes: int, news: "queue.SimpleQueue[News]", nodes: Nodes) -> None:
        self.number = number
        self._name = f"process {number + 1} of {processes}"
        self._news = news
        self._nodes = nodes
        self._end = GONE
        self._ended = threading.Event()

    def tell(self, order: Order) -> None:
        self._nodes.send({"number": self.number, "order": order.model_dump_json()})

    def hear(self, said: Mapping[str, Any]) -> None:
        if "answer" in said:
            with contextlib.suppress(ValidationError):  # what is no answer ends the training as its end does
                self._news.put((self, answers.validate_json(said["answer"])))
                return
        if not self._ended.is_set():
            self._end = str(said.get("end", "it said what is no answer"))
            self._ended.set()
            self._news.put((self, None))

    def raise_end(self) -> NoReturn:
        raise WorkerCrashed(f"{self._name}, on another node: {self._end}")

    def raise_failure(self, failed: Failed) -> NoReturn:
        raise_as_it_was(f"{self._name}, on another node", failed)

    def close(self) -> None:
        self._nodes.send({"number": self.number, "close": True})
        self._ended.wait(END_SECONDS)


def nodes_of(env: Mapping[str, str], *, processes: int) -> Nodes | None:
    """Of a process whose supervisor runs such a program."""
    if DESCRIPTOR not in env:
        return None
    return Nodes(socket.socket(fileno=int(env[DESCRIPTOR])), processes=processes)


def launch_of(nodes: Nodes | None) -> tuple[Launch, str | None]:
    """How members are started, and the address of this node where some of them are on others."""
    return (MemberProcess, None) if nodes is None else (nodes.launch, nodes.address())
