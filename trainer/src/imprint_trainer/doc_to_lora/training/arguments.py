"""Command-line arguments that training and evaluation share."""

import argparse

from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.models.device import fix_numerics, pick_device
from imprint_trainer.models.load import load_base


def add_machine_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--base", required=True, help="folder of the base model")
    parser.add_argument(
        "--quantization",
        choices=["nf4", "none"],
        default="nf4",
        help="how the base model is loaded; the service loads nf4 (default)",
    )
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    parser.add_argument("--threads", type=at_least_one, help="default: one for each physical core")


def at_least_one(text: str) -> int:
    """An argument's value; argparse names the argument in the refusal."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def load_machine(options: argparse.Namespace) -> LoadedBase:
    """Raises TrainerError when the base model cannot be loaded."""
    fix_numerics(pick_device(options.device), options.threads)
    return load_base(options.base, quantization=options.quantization, device=options.device)


def load(options: argparse.Namespace, name: str) -> Base:
    """Raises TrainerError when the base model cannot be loaded."""
    loaded = load_machine(options)
    return Base(loaded.model, loaded.tokenizer, name)
