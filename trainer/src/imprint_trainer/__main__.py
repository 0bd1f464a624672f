"""`python -m imprint_trainer COMMAND`: serve, or one of COMMANDS."""

import importlib
import os
import sys

from imprint_trainer.config import parse_arguments
from imprint_trainer.environment import settle_environment

# Each module has a `main(argv)` that returns the exit code; imported when it is asked for, since torch takes seconds.
COMMANDS = {"gguf": "jobs.export", "models": "bases.cli"}


def main() -> int:
    if module := COMMANDS.get(next(iter(sys.argv[1:]), "")):
        settle_environment()
        return int(importlib.import_module(f"imprint_trainer.{module}").main(sys.argv[2:]))
    config = parse_arguments(sys.argv[1:])
    settle_environment()
    from imprint_trainer.serve import serve

    code = serve(config)
    sys.stderr.flush()
    os._exit(code)  # daemon threads and C libraries have nothing left to tidy up


if __name__ == "__main__":
    sys.exit(main())
