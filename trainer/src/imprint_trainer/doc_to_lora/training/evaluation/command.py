"""`hypernetworks evaluate`: the table, and the same as one line of JSON."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from imprint_trainer.data.session import load_session
from imprint_trainer.doc_to_lora.checkpoint import store
from imprint_trainer.doc_to_lora.document import document_text
from imprint_trainer.doc_to_lora.targets import check_fits
from imprint_trainer.doc_to_lora.training.arguments import add_machine_arguments, at_least_one, load
from imprint_trainer.doc_to_lora.training.evaluation.evaluate import Measured, evaluate
from imprint_trainer.doc_to_lora.training.refusal import TrainingRefused


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_machine_arguments(parser)
    parser.add_argument("--hypernetwork", required=True, type=Path, help="folder of the hypernetwork")
    parser.add_argument("--documents", type=at_least_one, default=200, help="documents a row (default: 200)")
    parser.add_argument("--sessions", type=Path, help="folder of canonical sessions to hide facts in")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=at_least_one, default=16, help="questions answered at once (default: 16)")
    parser.add_argument("--json", action="store_true", help="no table, the JSON line only")


def run(options: argparse.Namespace) -> None:
    """Raises TrainerError, TrainingRefused."""
    config = store.read_config(options.hypernetwork)
    texts = session_texts(options.sessions) if options.sessions else []
    base = load(options, config.base_model_name_or_path)
    check_fits(base.model, config)
    hypernetwork = store.load(options.hypernetwork, device=base.model.device)

    def show(row: Measured) -> None:
        if not options.json:
            numbers = "" if row.numbers is None else f"{row.numbers:.3f}"
            verdict = "met" if row.met else "missed"
            print(
                f"{row.row:<40} {row.documents:>9} {row.share:>7.3f} {numbers:>8}  {row.goal:<26} {verdict}", flush=True
            )

    if not options.json:
        print(f"{'row':<40} {'documents':>9} {'share':>7} {'numbers':>8}  {'goal':<26}", flush=True)
    rows = evaluate(
        base,
        hypernetwork,
        documents=options.documents,
        seed=options.seed,
        batch=options.batch,
        sessions=texts,
        on_row=show,
    )
    summary = {"hypernetwork": options.hypernetwork.name, "base": base.name, "seed": options.seed}
    print(json.dumps({**summary, "rows": [asdict(row) for row in rows]}))


def session_texts(folder: Path) -> list[str]:
    """The documents of a folder's canonical sessions. Raises TrainerError, TrainingRefused when there are none."""
    texts = [document_text(load_session(path)) for path in sorted(folder.glob("*.json"))]
    if not texts:
        raise TrainingRefused(f"--sessions: {folder.name} holds no canonical session (*.json): import some first.")
    return texts
