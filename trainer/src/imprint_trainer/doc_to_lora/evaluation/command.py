"""`hypernetworks evaluate`: the table of a hypernetwork, on real sessions, questions and facts in natural words."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from imprint_trainer.adapters.write import sha256_of
from imprint_trainer.doc_to_lora.checkpoint import store
from imprint_trainer.doc_to_lora.evaluation.fact_cases import FactCases
from imprint_trainer.doc_to_lora.evaluation.facts import SETS
from imprint_trainer.doc_to_lora.evaluation.imprints import Imprinter
from imprint_trainer.doc_to_lora.evaluation.passages import session_files
from imprint_trainer.doc_to_lora.evaluation.question_cases import QuestionCases
from imprint_trainer.doc_to_lora.evaluation.refined_cases import RefinedCases
from imprint_trainer.doc_to_lora.evaluation.results import Part, measure, read_results
from imprint_trainer.doc_to_lora.evaluation.second_cases import SecondCases
from imprint_trainer.doc_to_lora.evaluation.session_cases import SessionCases
from imprint_trainer.doc_to_lora.evaluation.table import rows_of, table_of
from imprint_trainer.doc_to_lora.imprint import load_any
from imprint_trainer.doc_to_lora.targets import check_fits
from imprint_trainer.doc_to_lora.training.arguments import add_machine_arguments, at_least_one, load_machine
from imprint_trainer.doc_to_lora.training.refusal import TrainingRefused
from imprint_trainer.models.base import LoadedBase

USUAL_ROWS = ("sessions", "facts", "questions", "seconds")
ROWS = (*USUAL_ROWS, "refined")
SETTINGS = ("set", "windows", "facts", "seeds", "questions", "lora", "calibrated")  # that results depend on


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_machine_arguments(parser)
    parser.add_argument("--hypernetwork", required=True, type=Path, help="folder of the hypernetwork")
    parser.add_argument("--groups", type=Path, help="folder of folders of canonical sessions, one for each repository")
    parser.add_argument(
        "--set",
        choices=list(SETS),
        default="dev",
        help="facts; test is sealed: nothing is tuned by it",
    )
    parser.add_argument("--out", type=Path, help="file of results, a line each: the same command goes on from it")
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=list(USUAL_ROWS))
    parser.add_argument("--limit-sessions", type=at_least_one, help="of all groups in turn (default: all)")
    parser.add_argument("--windows", type=at_least_one, default=2, help="of each part of a session (default: 2)")
    parser.add_argument(
        "--facts", type=at_least_one, default=8, help="of each of the six kinds for a seed (default: 8)"
    )
    parser.add_argument("--seeds", type=at_least_one, default=5, help="of the facts (default: 5)")
    parser.add_argument("--questions", type=at_least_one, help="candidates (default: all)")
    parser.add_argument("--lora", action="store_true", help="also train a LoRA on what is read of each session")
    parser.add_argument("--calibrated", action="store_true", help="with the scale that jobs choose, not 1")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")


def run(options: argparse.Namespace) -> None:
    """Raises TrainerError, TrainingRefused."""
    if options.groups is not None and not (options.groups.is_dir() and session_files(options.groups)):
        raise TrainingRefused(f"--groups: {options.groups.name} holds no folder of canonical sessions (*.json).")
    config = store.read_config(options.hypernetwork)
    base = load_machine(options)
    check_fits(base.model, config)
    results = read_results(options.out, identity(options, base))

    def note(what: str) -> None:
        print(what, file=sys.stderr, flush=True)

    measure(parts_of(options, base), results, options.out, note)
    rows = rows_of(results)
    summary = {"hypernetwork": options.hypernetwork.name, "set": options.set, "calibrated": options.calibrated}
    print(json.dumps({**summary, "rows": [asdict(row) for row in rows]}) if options.json else table_of(rows))


def parts_of(options: argparse.Namespace, base: LoadedBase) -> Sequence[Part]:
    hypernetwork = load_any(options.hypernetwork, base.device)
    imprinter = Imprinter(base, hypernetwork, options.calibrated)
    sessions = SessionCases(imprinter, options.groups, options.limit_sessions, options.windows, options.lora)
    facts = FactCases(imprinter, SETS[options.set], options.facts, options.seeds)
    parts: dict[str, Part] = {
        "sessions": sessions,
        "facts": facts,
        "questions": QuestionCases(sessions, facts, options.questions),
        "seconds": SecondCases(
            Path(options.base),
            hypernetwork.config.base_model_name_or_path,
            options.hypernetwork,
            base.tokenizer,
            options.device,
            options.threads,
            options.calibrated,
        ),
        "refined": RefinedCases(sessions),
    }
    return [parts[name] for name in ROWS if name in options.rows]


def identity(options: argparse.Namespace, base: LoadedBase) -> dict[str, Any]:
    """What results depend on, but for which rows are asked for."""
    files = session_files(options.groups, options.limit_sessions) if options.groups else []
    return {
        "hypernetwork": sha256_of(options.hypernetwork / store.WEIGHTS_FILE),
        "base": {"quantization": base.quantization, "computes_in": base.computes_in, "name": Path(options.base).name},
        "sessions": [sha256_of(path) for path in files],
        **{name: getattr(options, name) for name in SETTINGS},
    }
