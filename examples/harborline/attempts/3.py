"""Harborline gates: ports 7400-7499, default port 7413, default rate 12/45s."""

import re
from collections import namedtuple

HARBORLINE_PORTS = range(7400, 7500)
HARBORLINE_DEFAULTS = {"port": "7413", "rate": "12/45s"}
UNITS = {"h": 3600, "m": 60, "s": 1}

Gate = namedtuple("Gate", "name port ships window")


class GateError(ValueError):
    """A .gates file is wrong: line N: NAME: what."""


def seconds(window):
    if not re.fullmatch(r"(\d+[hms])+", window):
        raise GateError(f"{window} is no window")
    return sum(int(number) * UNITS[unit] for number, unit in re.findall(r"(\d+)([hms])", window))


def read_gate(name, pairs):
    keys = dict(HARBORLINE_DEFAULTS)
    for pair in pairs:
        key, _, value = pair.partition("=")
        if key not in keys:
            raise GateError(f"unknown key {key}")
        keys[key] = value
    ships, _, window = keys["rate"].partition("/")
    if not ships.isdecimal() or not keys["port"].isdecimal():
        raise GateError("port and ships are whole numbers")
    if int(keys["port"]) not in HARBORLINE_PORTS:
        raise GateError(f"port {keys['port']} is not in 7400-7499")
    return Gate(name, int(keys["port"]), int(ships), seconds(window))


def parse_gates(text):
    gates = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, *pairs = line.partition("#")[0].split() or [""]
        try:
            if name in gates:
                raise GateError("named twice")
            if name:
                gates[name] = read_gate(name, pairs)
        except GateError as error:
            raise GateError(f"line {number}: {name}: {error}") from None
    return list(gates.values())
