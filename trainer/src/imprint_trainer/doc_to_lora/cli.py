"""`hypernetworks convert | list`: installs published checkpoints, names those installed; JSON lines on stdout."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from imprint_trainer.doc_to_lora.checkpoint.convert import convert
from imprint_trainer.doc_to_lora.checkpoint.store import list_installed
from imprint_trainer.errors import TrainerError


def main(argv: Sequence[str]) -> int:
    """Exit code 0, or 2 with a sentence on stderr when nothing could be done."""
    parser = argparse.ArgumentParser(prog="imprint hypernetworks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    converting = commands.add_parser("convert", help="convert a published checkpoint (pytorch_model.bin)")
    converting.add_argument("path", type=Path)
    converting.add_argument("--base", required=True, help="base model that the checkpoint was trained for")
    converting.add_argument("--out", required=True, type=Path, help="folder to write")
    listing = commands.add_parser("list", help="list converted hypernetworks")
    listing.add_argument("--dir", required=True, type=Path, help="folder of hypernetworks")
    options = parser.parse_args(argv)
    try:
        if options.command == "convert":
            config = convert(options.path, options.base, options.out)
            print(json.dumps({"path": str(options.out), "config": config.model_dump(mode="json")}))
        else:
            for entry in list_installed(options.dir):
                print(
                    json.dumps(
                        {
                            "name": entry.name,
                            "path": str(entry.path),
                            "base_model": entry.base_model,
                            "size": entry.size,
                            "problem": entry.problem,
                        }
                    )
                )
    except TrainerError as error:
        print(f"{error.code}: {error.message}\n{error.hint}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
