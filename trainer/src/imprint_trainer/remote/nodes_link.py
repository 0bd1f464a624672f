"""The program that starts an attempt's processes on other nodes, beside the trainer whose members they are."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

DESCRIPTOR = "IMPRINT_NODES_FD"  # of the socket, in each of the two
ORDER = "IMPRINT_NODES"
END_SECONDS = 5.0


@dataclass(frozen=True)
class Link:
    """What the trainer is started with."""

    env: Mapping[str, str] = field(default_factory=dict)
    descriptors: tuple[int, ...] = ()


NO_NODES = Link()


@contextmanager
def other_nodes(order: Mapping[str, Any], env: Mapping[str, str]) -> Iterator[Link]:
    """`order`: attempt.json's `nodes`. The program has the environment of this one, with Ray's token; what it starts
    has `env`. Members are gone when this ends, for it is their driver. Raises OSError where it cannot be started."""
    ours, theirs = socket.socketpair()
    own = os.environ | {
        DESCRIPTOR: str(theirs.fileno()),
        ORDER: json.dumps({**order, "command": [sys.executable, "-m", "imprint_trainer", "member"], "env": dict(env)}),
    }
    with ours:
        with theirs:
            child = subprocess.Popen(
                [order["python"], "-m", "imprint_trainer.remote.nodes"],
                env=own,
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
            )
        try:
            yield Link({DESCRIPTOR: str(ours.fileno())}, (ours.fileno(),))
        finally:
            child.terminate()
            try:
                child.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
