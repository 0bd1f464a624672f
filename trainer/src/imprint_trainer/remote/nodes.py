"""`python -m imprint_trainer.remote.nodes`: starts a training's members on other nodes, and carries their lines.

Ray's own interpreter runs it, which has nothing of the trainer's: the standard library and Ray are at hand. It is the
driver of an actor for each other node; with it they end, and with them the members, whose stdin ends then.
"""

import contextlib
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

REASON_CHARACTERS = 300


class Carrier:
    """On another node: members as children. Its one thread for orders keeps their sequence; news are waited for in
    another."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        self._command = command
        self._env = env
        self._children: dict[int, subprocess.Popen[bytes]] = {}
        self._news: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def start(self, number: int) -> None:
        cards = {name: os.environ[name] for name in ("CUDA_VISIBLE_DEVICES",) if name in os.environ}
        try:
            child = subprocess.Popen(
                self._command, env=self._env | cards, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        except OSError as error:
            self._news.put({"number": number, "end": f"it cannot be started there: {error.strerror}"})
            return
        self._children[number] = child
        threading.Thread(target=self._read, args=(number, child), daemon=True).start()

    def tell(self, number: int, line: str) -> None:
        child = self._children.get(number)
        if child is not None and child.stdin is not None:
            with contextlib.suppress(OSError, ValueError):  # its end says it better
                child.stdin.write(line.encode("ascii") + b"\n")
                child.stdin.flush()

    def close(self, number: int) -> None:
        child = self._children.get(number)
        if child is not None and child.stdin is not None:
            with contextlib.suppress(OSError):
                child.stdin.close()

    def news(self) -> list[dict[str, Any]]:
        """Waits for some."""
        found = [self._news.get()]
        while not self._news.empty():
            found.append(self._news.get())
        return found

    def _read(self, number: int, child: "subprocess.Popen[bytes]") -> None:
        assert child.stdout is not None
        for line in child.stdout:
            self._news.put({"number": number, "answer": line.decode("ascii", "replace")})
        code = child.wait()
        end = f"it ended with exit code {code}" if code >= 0 else f"it was ended by {signal.Signals(-code).name}"
        self._news.put({"number": number, "end": end})


class Bridge:
    def __init__(self, link: socket.socket, order: Mapping[str, Any]) -> None:
        self._link = link
        self._order = order
        self._sending = threading.Lock()
        self._carriers: dict[int, Any] = {}  # by node
        self._at: dict[int, int] = {}  # the node of a member
        self._ended: set[int] = set()
        self._group: Any = None

    def run(self) -> None:
        """Until the trainer is gone."""
        for line in self._link.makefile("rb"):
            said = json.loads(line)
            try:
                self._take(said)
            except Exception as error:
                self._say({"number": said.get("number"), "end": reason(error)})

    def _take(self, said: Mapping[str, Any]) -> None:
        if "hello" in said:
            self._say({"address": connect()})
            return
        number = said["number"]
        if "node" in said:
            self._at[number] = said["node"]
            if self._group is None:
                self._group = reserve(said["nodes"], self._order)
            if said["node"] not in self._carriers:
                self._carriers[said["node"]] = self._carrier(said["node"])
            self._carriers[said["node"]].start.remote(number)
            return
        carrier = self._carriers.get(self._at.get(number, -1))
        if carrier is None:
            return
        if "order" in said:
            carrier.tell.remote(number, said["order"])
        else:
            carrier.close.remote(number)

    def _carrier(self, node: int) -> Any:
        import ray
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        needs = {name: self._order[name] for name in ("memory",) if self._order.get(name)}
        made = ray.remote(concurrency_groups={"news": 1})(Carrier).options(
            num_cpus=self._order["cpus"],
            num_gpus=self._order["gpus"],
            **needs,
            max_restarts=0,
            scheduling_strategy=PlacementGroupSchedulingStrategy(self._group, placement_group_bundle_index=node),
        )
        carrier = made.remote(self._order["command"], self._order["env"])
        threading.Thread(target=self._listen, args=(node, carrier), daemon=True).start()
        return carrier

    def _listen(self, node: int, carrier: Any) -> None:
        import ray

        try:
            while True:
                for one in ray.get(carrier.news.options(concurrency_group="news").remote()):
                    self._say(one)
        except Exception as error:
            why = reason(error)
            for number in [number for number, at in self._at.items() if at == node]:
                self._say({"number": number, "end": f"its node, or Ray there, is gone ({why})"})

    def _say(self, message: Mapping[str, Any]) -> None:
        with self._sending:
            try:
                self._link.sendall(json.dumps(message).encode("ascii") + b"\n")
            except OSError:
                os._exit(0)  # the trainer is gone


def connect() -> str:
    """To the cluster that this node is of; the node's address. Raises RuntimeError where Ray is not at hand."""
    try:
        import ray
    except ModuleNotFoundError as error:
        raise RuntimeError(f"{error}: ray_launcher names an interpreter that has it") from None

    ray.init(log_to_driver=False, logging_level="ERROR", configure_logging=False)
    return str(ray.util.get_node_ip_address())


def reserve(nodes: int, order: Mapping[str, Any]) -> Any:
    """A bundle on each of so many nodes that are not this one. Raises TimeoutError."""
    import ray
    from ray.util.placement_group import placement_group

    bundle = {"CPU": order["cpus"], **({"GPU": order["gpus"]} if order["gpus"] else {})}
    if order.get("memory"):
        bundle["memory"] = order["memory"]
    elsewhere = {"ray.io/node-id": f"!{ray.get_runtime_context().get_node_id()}"}
    group = placement_group([bundle] * nodes, strategy="STRICT_SPREAD", bundle_label_selector=[elsewhere] * nodes)
    try:
        ray.get(group.ready(), timeout=order["patience_seconds"])
    except ray.exceptions.GetTimeoutError:
        asked = ", ".join(f"{amount:g} {name}" for name, amount in bundle.items())
        raise TimeoutError(
            f"for {order['patience_seconds']:g} seconds the cluster had not {nodes} more with {asked} free"
        ) from None
    return group


def reason(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines or [type(error).__name__])[0][:REASON_CHARACTERS]


def main() -> int:
    link = socket.socket(fileno=int(os.environ.pop("IMPRINT_NODES_FD")))
    Bridge(link, json.loads(os.environ.pop("IMPRINT_NODES"))).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
