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
        if port not in range(7400, 7500):
            raise GateError(f"line {number}: {name}: port {port} is not in 7400-7499")
        ships, window = keys.get("rate", "12/45s").split("/")
        gates.append(Gate(name, port, int(ships), seconds(window)))
    return gates
