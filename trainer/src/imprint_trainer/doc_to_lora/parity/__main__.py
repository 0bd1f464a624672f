"""`python -m imprint_trainer.doc_to_lora.parity DIR`: exit code 0 when every case of the folder passed, 1 otherwise."""

import sys
from collections.abc import Sequence
from pathlib import Path

from transformers.utils import logging

from imprint_trainer.doc_to_lora.parity.run import run_folder


def main(argv: Sequence[str]) -> int:
    if len(argv) != 1:
        print("usage: parity DIR (a folder of cases; see trainer/tests/fixtures/doc-to-lora)", file=sys.stderr)
        return 2
    logging.disable_progress_bar()
    passed, failed = run_folder(Path(argv[0]), print)
    if passed + failed == 0:
        print(f"There is no case in {argv[0]}: a case is a folder with case.json, chunking.json or context-text.json.")
        return 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
