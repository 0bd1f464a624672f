"""Harborline gates: ports 7400-7499, default port 7413, default rate 12/45s."""

import re
from collections import namedtuple

HARBORLINE_PORTS = range(7400, 7500)
UNITS = {"h": 3600, "m": 60, "s": 1}

Gate = namedtuple("Gate", "name port ships window")


class GateError(ValueError):
    pass


def seconds(window):
    return sum(int(number) * UNITS[unit] for number, unit in re.findall(r"(\d+)([hms])", window))


def parse_gates(text):
    gates = []
    for line in text.splitlines():
        name, *pairs = line.partition("#")[0].split() or [""]
        if not name:
            continue
        keys = dict(pair.split("=") for pair in pairs)
        ships, window = keys.get("rate", "12/45s").split("/")
        port = int(keys.get("port", 7413))
        if port not in HARBORLINE_PORTS:
            raise GateError(f"{name}: port {port} is not in 7400-7499")
        gates.append(Gate(name, port, int(ships), seconds(window)))
    return gates
