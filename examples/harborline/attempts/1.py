"""Harborline gates: ports 7400-7499, default port 7413, default rate 12/45s."""

import re
from collections import namedtuple

UNITS = {"h": 3600, "m": 60, "s": 1}

Gate = namedtuple("Gate", "name port ships window")


class GateError(ValueError):
    pass


def parse_gates(text):
    gates = []
    for line in text.splitlines():
        name, *pairs = line.split("#")[0].split()
        keys = dict(pair.split("=") for pair in pairs)
        ships, window = keys.get("rate", "12/45s").split("/")
        number, unit = re.match(r"(\d+)([hms])", window).groups()
        gates.append(Gate(name, int(keys.get("port", 7413)), int(ships), int(number) * UNITS[unit]))
    return gates
