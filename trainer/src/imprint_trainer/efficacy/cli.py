"""python -m imprint_trainer efficacy: trains and tests on groups of sessions, and prints what it amounts to.

Each case is a line of JSON in the file of results; a study that is run again goes on where it was.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from imprint_trainer.efficacy.groups import Group, read_group
from imprint_trainer.efficacy.report import rows_of, share, table_of
from imprint_trainer.errors import NothingToEvaluate, TrainerError
from imprint_trainer.lora.config import LoraTraining

SEED = 7
SETTINGS = {
    "learn": LoraTraining(seed=SEED, profile="learn"),
    "remember": LoraTraining(seed=SEED, profile="remember"),
    "rank4": LoraTraining(seed=SEED, profile="learn", rank=4, alpha=8),
}


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m imprint_trainer efficacy", description=__doc__)
    parser.add_argument(
        "--groups", type=Path, nargs="+", required=True, help="folders of canonical sessions, named in order of time"
    )
    parser.add_argument("--base", required=True, type=Path, help="folder of the base model")
    parser.add_argument("--out", required=True, type=Path, help="file of results, one JSON object a line")
    parser.add_argument("--sessions", type=int, nargs="+", default=[1, 4], help="sessions that are trained on")
    parser.add_argument(
        "--unrelated", type=Path, nargs="*", default=[], help="groups whose newest session is tested as well"
    )
    parser.add_argument("--settings", nargs="+", default=["learn"], choices=[*SETTINGS, "context"])
    parser.add_argument("--trained-windows", type=int, default=4, help="of each session, the first ones")
    parser.add_argument("--tested-windows", type=int, default=4, help="of the newest session, the first ones")
    parser.add_argument("--json", action="store_true", help="print cases and table as one JSON object")
    return parser.parse_args(argv)


def main(argv: Sequence[str]) -> int:
    options = arguments(argv)
    if missing := [str(folder) for folder in [*options.groups, *options.unrelated] if not folder.is_dir()]:
        print(f"There is no folder {missing[0]}.", file=sys.stderr)
        return 2
    done = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.is_file() else []
    try:
        for case in cases(options, {(one["group"], one["sessions"], one["settings"]) for one in done}):
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(case) + "\n")
            done.append(case)
            print(f"{case['group']}, {case['settings']}, {case['sessions']}: {share(case['change'])}", file=sys.stderr)
    except TrainerError as error:
        print(f"{error.message}. {error.hint}", file=sys.stderr)
        return 1
    rows = rows_of(done, SEED)
    print(json.dumps({"table": table_of(rows), "rows": rows, "cases": done}) if options.json else table_of(rows))
    return 0


def cases(options: argparse.Namespace, done: set[tuple[str, int, str]]) -> Iterator[dict[str, Any]]:
    import torch

    from imprint_trainer.efficacy.study import WINDOW, Limits, Study
    from imprint_trainer.models.device import fix_numerics, pick_device
    from imprint_trainer.models.load import load_base

    fix_numerics(torch.device(pick_device("auto")), None)
    base = load_base(str(options.base), quantization="nf4", device="auto")
    most = max(options.sessions) + 1

    def read(folder: Path, sessions: int = most) -> Group:
        return read_group(folder, base.tokenizer, max_length=WINDOW, most=sessions)

    unrelated = [read(folder, 1) for folder in options.unrelated]
    study = Study(base, SETTINGS, unrelated, Limits(options.trained_windows, options.tested_windows))
    for folder in options.groups:
        asked = [
            (count, name)
            for name in options.settings
            for count in (options.sessions if name != "context" else [1])
            if (folder.name, count, name) not in done
        ]
        group = read(folder) if asked else None
        for count, name in asked:
            if group is None or len(group.before(count)) < count:
                continue
            try:
                yield study.context(group) if name == "context" else study.case(group, count, name)
            except NothingToEvaluate as error:
                print(f"{folder.name}, {count} sessions, {name}: {error.message}", file=sys.stderr)
