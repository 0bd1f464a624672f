"""`python -m imprint_bench.gpu`: whether trainings do on this graphics card what they do on a CPU."""

import argparse
import sys
from collections.abc import Sequence

from imprint_trainer.errors import TrainerError
from imprint_trainer.jobs.worker import import_libraries

NO_CARD = "torch finds no CUDA card on this machine; --device cpu rehearses the same checks on the CPU."
VERDICTS = {True: "passed", False: "FAILED", None: "shown "}


def main(argv: Sequence[str]) -> int:
    """Exit code 0, 1 when a check failed, 2 where there is no card or the base model cannot be used."""
    parser = argparse.ArgumentParser(prog="python -m imprint_bench.gpu", description=__doc__)
    parser.add_argument("--base", required=True, help="folder or hub id of the base model")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"], help="cpu: a rehearsal of the same code")
    parser.add_argument("--length", type=int, default=1024, help="tokens of a window")
    parser.add_argument("--steps", type=int, default=4, help="passes over two windows")
    options = parser.parse_args(argv)
    import torch

    if options.device == "cuda" and not torch.cuda.is_available():
        print(NO_CARD, file=sys.stderr)
        return 2
    import_libraries()
    from imprint_bench.checks import Bench, checks
    from imprint_trainer.errors import machine_failures
    from imprint_trainer.models.device import fix_numerics

    device = torch.device(options.device)
    fix_numerics(device)
    failed = False
    try:
        with machine_failures():
            for check in checks(Bench(options.base, device, options.length, options.steps)):
                print(f"{VERDICTS[check.passed]}  {check.name:14} {check.sentence}", flush=True)
                failed |= check.passed is False
    except TrainerError as error:
        print(f"{error.message}\n{error.hint}", file=sys.stderr)
        return 2
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
