"""`python -m imprint_trainer privacy SPEC`: one JSON document on stdout, what it is doing on stderr."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from imprint_trainer.errors import TrainerError
from imprint_trainer.jobs.worker import Worker, import_libraries


def main(argv: Sequence[str]) -> int:
    """Exit code 0, 2 with a sentence on stderr when nothing could be measured, 130 when interrupted."""
    parser = argparse.ArgumentParser(prog="python -m imprint_trainer privacy", description=__doc__)
    parser.add_argument("spec", type=Path, help="JSON file: canaries, and the two trainings")
    parser.add_argument("--threads", type=int, help="default: one for each physical core")
    options = parser.parse_args(argv)
    try:
        import_libraries()
        from imprint_trainer.models.device import fix_numerics, pick_device
        from imprint_trainer.privacy.measure import measure
        from imprint_trainer.privacy.spec import PrivacySpec

        fix_numerics(pick_device(), options.threads)
        spec = PrivacySpec.model_validate_json(options.spec.read_bytes())
        result = measure(spec, Worker(device="auto", threads=options.threads), tell)
    except TrainerError as error:
        print(f"{error.message}\n{error.hint}", file=sys.stderr)
        return 2
    except (OSError, ValidationError) as error:
        print(f"{options.spec.name} cannot be used: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    print(json.dumps(result))
    return 0


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
