"""`python -m imprint_bench.steps`: how many steps trainings on one made-up session plan at several lengths of window.

Needs the base model's tokenizer alone. Prints one JSON document.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any, get_args

from imprint_bench.synthetic import synthetic_session
from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.lora.steps import LoraTraining, in_parts, plan_steps
from imprint_trainer.models.locate import tokenizer_of
from imprint_trainer.protocol import Profile


def planned(tokens: int, tokenizer: Any, lengths: Sequence[int], seed: int) -> list[dict[str, int]]:
    session, rows = synthetic_session(tokens=tokens, seed=seed), []
    for length in lengths:
        prepared = prepare_windows(session, tokenizer, max_length=length)
        steps = {}
        for profile in get_args(Profile):
            training = LoraTraining(seed=0, profile=profile)
            steps[profile] = plan_steps(in_parts(prepared.windows, training), training, prepared.text).maximum
        rows.append(
            {"window": length, "windows": len(prepared.windows), "supervised": prepared.supervised_tokens, **steps}
        )
    return rows


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m imprint_bench.steps", description=__doc__)
    parser.add_argument("--base", required=True, help="folder or hub id of the base model")
    parser.add_argument("--tokens", type=int, default=33_000, help="of the session")
    parser.add_argument("--windows", type=int, nargs="+", default=[1024, 4096, 8192, 32_768])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    print(json.dumps({"steps": planned(options.tokens, tokenizer_of(options.base), options.windows, options.seed)}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
