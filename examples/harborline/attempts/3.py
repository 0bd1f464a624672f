"""Harborline gates: ports 7400-7499, default port 7413, default rate 12/45s."""

import re
from collections import namedtuple

HARBORLINE_PORTS = range(7400, 7500)
HARBORLINE_DEFAULTS = {"port": "7413", "rate": "12/45s"}
UNITS = {"h": 3600, "m": 60, "s": 1}

Gate = namedtuple("Gate", "name port ships window")


class GateError(ValueError):
    pass


def seconds(window):
    if not re.fullmatch(r"(\d+[hms])+", window):
        raise GateError(f"{window} is no window")
    return sum(int(number) * UNITS[unit] for number, unit in re.findall(r"(\d+)([hms])", window))


def parse_gates(text):
    gates = {}
    for line in text.splitlines():
        name, *pairs = line.partition("#")[0].split() or [""]
        if not name:
            continue
        if name in gates:
            raise GateError(f"{name}: named twice")
        keys = HARBORLINE_DEFAULTS | dict(pair.split("=") for pair in pairs)
        if int(keys["port"]) not in HARBORLINE_PORTS:
            raise GateError(f"{name}: port {keys['port']} is not in 7400-7499")
        ships, window = keys["rate"].split("/")
        gates[name] = Gate(name, int(keys["port"]), int(ships), seconds(window))
    return list(gates.values())
