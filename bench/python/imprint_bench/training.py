"""`python -m imprint_bench.training`: a training by one of several trainers, a step for each line on stdin.

A line of JSON on stdout says that the base model is loaded, one follows each step, the last one names the peak.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from imprint_bench.windows import made_up_windows, session_windows
from imprint_trainer.jobs.worker import import_libraries

NAMES = ("imprint", "trl", "plain")


def main(argv: Sequence[str]) -> int:
    """Exit code 0; 2 where the trainer is not installed."""
    parser = argparse.ArgumentParser(prog="python -m imprint_bench.training", description=__doc__)
    parser.add_argument("--by", choices=NAMES, required=True)
    parser.add_argument("--base", required=True, help="folder or hub id of the base model")
    parser.add_argument("--quantization", choices=["nf4", "none"], default="nf4")
    parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    parser.add_argument("--session", type=Path, help="canonical session to train; made-up windows without it")
    parser.add_argument("--max-length", type=int, default=1024)
    parser.add_argument("--windows", type=int, default=2)
    parser.add_argument("--steps", type=int, default=6)
    options = parser.parse_args(argv)
    answers, sys.stdout = sys.stdout, sys.stderr  # the libraries print too

    def say(line: dict[str, Any]) -> None:
        print(json.dumps(line), file=answers, flush=True)

    if options.by == "trl" and find_spec("trl") is None:
        print("trl is not installed.", file=sys.stderr)
        return 2
    import_libraries()
    from imprint_bench.trainers import loaded
    from imprint_trainer.models.device import fix_numerics, pick_device
    from imprint_trainer.models.locate import tokenizer_of
    from imprint_trainer.models.memory import PeakMemory

    device = pick_device(options.device)
    fix_numerics(device)
    memory = PeakMemory(device)
    tokenizer = tokenizer_of(options.base)
    if options.session is None:
        windows = made_up_windows(len(tokenizer), lengths=[options.max_length] * options.windows, seed=0)
    else:
        windows = session_windows(options.session, tokenizer, max_length=options.max_length, count=options.windows)
    run = loaded(options.by, options.base, options.quantization, device)
    say({"tokens": sum(len(window.input_ids) for window in windows), "loaded_mb": round(memory.mb())})
    run(
        windows,
        options.steps,
        lambda: (sys.stdin.readline(), None)[1],
        lambda loss, seconds: say({"loss": loss, "seconds": seconds}),
    )
    say({"peak_mb": round(memory.mb())})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
