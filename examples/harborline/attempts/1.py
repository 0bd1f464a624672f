import re
from typing import NamedTuple

UNITS = {"s": 1, "m": 60, "h": 3600}


class GateError(ValueError):
    pass


class Gate(NamedTuple):
    name: str
    port: int
    ships: int
    window: int


def parse_gates(text):
    gates = []
    for line in text.splitlines():
        name, *pairs = line.split("#")[0].split()
        keys = dict(pair.split("=") for pair in pairs)
        ships, window = keys.get("rate", "12/45s").split("/")
        number, unit = re.match(r"(\d+)([smh])", window).groups()
        gates.append(Gate(name, int(keys.get("port", 7413)), int(ships), int(number) * UNITS[unit]))
    return gates
