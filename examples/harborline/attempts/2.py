"""Harborline gates: ports 7400-7499, default port 7413, default rate 12/45s."""

import re
from collections import namedtuple

HARBORLINE_PORTS = range(7400, 7500)
UNITS = {"s": 1, "m": 60, "h": 3600}

Gate = namedtuple("Gate", "name port ships window")


class GateError(ValueError):
    pass


def seconds(window):
    parts = re.findall(r"(\d+)([smh])", window)
    if not parts:
        raise GateError(f"{window} is no window")
    return sum(int(number) * UNITS[unit] for number, unit in parts)


def parse_gates(text):
    gates = []
    for number, line in enumerate(text.splitlines(), 1):
        name, *pairs = line.split("#")[0].split() or [""]
        if not name:
            continue
        keys = dict(pair.split("=") for pair in pairs)
        port = int(keys.get("port", 7413))
        if port not in HARBORLINE_PORTS:
            raise GateError(f"line {number}: {name}: port {port} is not in 7400-7499")
        ships, window = keys.get("rate", "12/45s").split("/")
        gates.append(Gate(name, port, int(ships), seconds(window)))
    return gates
