"""`python -m imprint_trainer COMMAND`: serve, prepare-default-model, or one of COMMANDS."""

import importlib
import os
import sys

from imprint_trainer.config import PrepareConfig, parse_arguments
from imprint_trainer.environment import settle_environment
from imprint_trainer.errors import TrainerError

# Each module has a `main(argv)` that returns the exit code; imported when it is asked for, since torch takes seconds.
COMMANDS = {
    "gguf": "jobs.export",
}


def main() -> int:
    if module := COMMANDS.get(next(iter(sys.argv[1:]), "")):
        settle_environment()
        return int(importlib.import_module(f"imprint_trainer.{module}").main(sys.argv[2:]))
    config = parse_arguments(sys.argv[1:])
    settle_environment()
    if isinstance(config, PrepareConfig):
        from imprint_trainer.errors import machine_failures
        from imprint_trainer.models.gguf_default import prepare_default_model

        try:
            with machine_failures():
                prepare_default_model(config.gguf, config.out, lambda line: print(line, flush=True))
        except TrainerError as error:
            print(f"{error.message}. {error.hint}", file=sys.stderr)
            return 1
        return 0
    from imprint_trainer.serve import serve

    code = serve(config)
    sys.stderr.flush()
    os._exit(code)  # daemon threads and C libraries have nothing left to tidy up


if __name__ == "__main__":
    sys.exit(main())
