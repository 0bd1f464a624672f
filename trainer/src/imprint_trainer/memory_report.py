"""`python -m imprint_trainer.memory_report`: what trainings and imprints of a base would take of this machine, as JSON.

Imports no torch where there is no card.
"""

import argparse
import json
from collections.abc import Sequence
from typing import Any

from imprint_trainer.errors import TrainerError, machine_failures
from imprint_trainer.imprint.memory import planned_imprint
from imprint_trainer.models.device import device_kind
from imprint_trainer.models.memory import planned_memory, window_limit
from imprint_trainer.models.memory_model import WINDOWS


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a line for each length of window, and the plan of the one that was asked for or is the longest that fits.
    Exits with the sentence of a base model that cannot be read."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--base-model", required=True, help="folder, or hub id")
    parser.add_argument("--tokens", type=int, help="of the longest session")
    parser.add_argument("--max-length", type=int, help="default: the longest that trainings choose here")
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--quantization", choices=["nf4", "none"], default="nf4")
    parser.add_argument("--device", default="auto")
    options = parser.parse_args(arguments, argparse.Namespace(target_modules=None))
    try:
        with machine_failures():
            print(json.dumps(report(options)))
    except TrainerError as error:
        raise SystemExit(f"{error.message} {error.hint}") from error


def report(options: argparse.Namespace) -> dict[str, Any]:
    device = device_kind(options.device)
    longest = window_limit(options, device)
    length = options.max_length or longest
    if options.tokens is not None:
        length = min(length, options.tokens)
    asked = planned_memory(options, length, device=device)
    windows = [(tokens, planned_memory(options, tokens, device=device)) for tokens in WINDOWS]
    return {
        "length": length,
        "longest_window": longest,
        "gradient_checkpointing": asked.checkpointing,
        "memory": asked.memory,
        "imprint": planned_imprint(options.base_model, None, device)[0].memory,
        "windows": [
            {
                "length": tokens,
                "total_mb": planned.memory["total_mb"],
                "gradient_checkpointing": planned.checkpointing,
                "fits": planned.memory["fits"],
            }
            for tokens, planned in windows
            if planned.memory is not None
        ],
    }


if __name__ == "__main__":
    main()
