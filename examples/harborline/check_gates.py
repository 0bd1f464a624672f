"""Checks of gates.py, without a test framework so that any python3 runs them: `python3 check_gates.py`."""

import sys

from gates import Gate, GateError, parse_gates


def gate(line: str) -> Gate:
    [only] = parse_gates(line)
    return only


def refusal(text: str) -> str:
    try:
        parse_gates(text)
    except GateError as error:
        return str(error)
    return "accepted"


CHECKS = {
    "defaults": (lambda: gate("south"), Gate("south", 7413, 12, 45)),
    "every key": (lambda: gate("north port=7421 rate=30/90s"), Gate("north", 7421, 30, 90)),
    "long window": (lambda: gate("east rate=5/1h30m").window, 5400),
    "comments": (lambda: [g.name for g in parse_gates("# quay\n\nwest # shut\neast")], ["west", "east"]),
    "port": (lambda: refusal("north port=8080"), "north: port 8080 is not in 7400-7499"),
    "window": (lambda: refusal("north rate=9/1h5"), "1h5 is no window"),
    "named twice": (lambda: refusal("north\nnorth"), "north: named twice"),
}

failed = 0
for name, (run, expected) in CHECKS.items():
    try:
        got = run()
    except Exception as error:
        got = f"{type(error).__name__}: {error}"
    if got != expected:
        failed += 1
        print(f"FAIL {name}: {got!r}, expected {expected!r}", file=sys.stderr)
print(f"{len(CHECKS) - failed} of {len(CHECKS)} checks passed")
sys.exit(1 if failed else 0)
