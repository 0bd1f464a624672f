"""`hypernetworks list | measure`: shows hypernetworks, and makes a closed-form one for a base model in minutes."""

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from imprint_trainer.errors import TrainerError, machine_failures
from imprint_trainer.imprint.config import PATHS, ClosedFormConfig, decoder
from imprint_trainer.imprint.folder import list_installed, save
from imprint_trainer.imprint.memory import adapted_blocks, planned_imprint
from imprint_trainer.imprint.statistics import from_tensors, measure
from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.models.device import device_kind, fix_numerics, pick_device
from imprint_trainer.models.load import load_base

MODULE = "down_proj"
TOKENS = 60_000
AXES = 1 / 4  # of the inputs' size
NOTED = 10_000  # tokens between two lines of progress

SUFFIXES = frozenset({".md", ".txt", ".rst", ".py", ".ts", ".js", ".go", ".rs", ".c", ".h", ".java", ".sh", ".html"})
PIECE = 384  # tokens
LEAST = 128
CHARACTERS = 5  # read for each token of a piece


class NoTexts(ValueError):  # noqa: N818  named for what happened
    """There is nothing to measure on: a sentence that names the argument."""


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="imprint hypernetworks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="list the installed hypernetworks")
    listing.add_argument("--dir", required=True, type=Path, nargs="+", help="folders of hypernetworks")
    add_arguments(commands.add_parser("measure", help="make a closed-form hypernetwork for a base model, in minutes"))
    options = parser.parse_args(argv)
    return exit_code(lambda: run_measure(options) if options.command == "measure" else run_list(options))


def exit_code(run: Callable[[], None]) -> int:
    """0, or 2 with a sentence on stderr when nothing could be done."""
    try:
        with machine_failures():
            run()
    except NoTexts as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
    except TrainerError as error:
        print(f"{error.code}: {error.message}\n{error.hint}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{error.filename}: {error.strerror}. Choose another path.", file=sys.stderr)
        return 2
    return 0


def run_list(options: argparse.Namespace) -> None:
    for folder in options.dir:
        for entry in list_installed(folder):
            print(json.dumps(asdict(entry) | {"path": str(entry.path)}))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--base", required=True, help="folder of the base model")
    parser.add_argument(
        "--quantization",
        choices=["nf4", "none"],
        default="nf4",
        help="how the base model is loaded; the service loads nf4 (default)",
    )
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    parser.add_argument("--threads", type=at_least_one, help="default: one for each physical core")
    parser.add_argument("--base-name", help="what the service calls the base model (default: its folder's name)")
    parser.add_argument("--texts", required=True, type=Path, nargs="+", help="files, and folders of text and source")
    parser.add_argument("--out", required=True, type=Path, help="folder to write")
    parser.add_argument("--tokens", type=at_least_one, default=TOKENS, help=f"of the texts (default: {TOKENS})")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="one JSON object at the end")


def at_least_one(text: str) -> int:
    """An argument's value; argparse names the argument in the refusal."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def run_measure(options: argparse.Namespace) -> None:
    """Raises TrainerError, NoTexts."""
    files = text_files(options.texts)
    fix_numerics(pick_device(options.device), options.threads)
    planned, dequantised = planned_imprint(options.base, None, device_kind(options.device))
    planned.require_fit()
    base = load_base(options.base, quantization=options.quantization, device=options.device, dequantised=dequantised)
    config = config_for(base.model, options.base_name or Path(options.base).name)
    noted = 0

    def on_tokens(tokens: int) -> None:
        nonlocal noted
        if tokens - noted >= NOTED:
            noted = tokens
            print(f"{tokens:,} of {options.tokens:,} tokens", file=sys.stderr, flush=True)

    found = pieces(files, base.tokenizer, options.tokens, options.seed)
    statistics, tokens = measure(base.model, config, found, seed=options.seed, on_tokens=on_tokens)
    tensors = statistics.tensors()
    from_tensors(tensors, config)
    save(config, tensors, options.out)
    (options.out / "README.md").write_text(card(config, tokens, len(files), options), encoding="utf-8")
    print(json.dumps({"path": str(options.out), "tokens": tokens}) if options.json else f"Wrote {options.out}.")


def config_for(model: CausalLM, name: str) -> ClosedFormConfig:
    """The defaults for a base model. Raises HypernetworkInvalid for other architectures."""
    blocks = decoder(model).layers
    linear: Any = blocks[0].get_submodule(PATHS[MODULE])
    return ClosedFormConfig(
        base_model_name_or_path=name,
        layer_indices=tuple(adapted_blocks(len(blocks))),
        target_modules=(MODULE,),
        d_in={MODULE: linear.in_features},
        d_out={MODULE: linear.out_features},
        feature_size=model.config.hidden_size,
        axes=max(1, int(linear.in_features * AXES)),
    )


def text_files(places: Sequence[Path]) -> list[Path]:
    """Files, and of folders those with a suffix of text, in order. Raises NoTexts where there are none."""
    found: list[Path] = []
    for place in places:
        below = sorted(path for path in place.rglob("*") if path.suffix in SUFFIXES) if place.is_dir() else [place]
        found += [path for path in below if path.is_file() and not path.is_symlink()]
    if not found:
        raise NoTexts(f"--texts: no text file in {', '.join(place.name for place in places)}: name others.")
    return found


def pieces(files: Sequence[Path], tokenizer: Any, tokens: int, seed: int) -> Iterator[list[int]]:
    """Ids of pieces of different files, drawn, until there are so many tokens; what is no UTF-8 is passed over."""
    rng = random.Random(f"texts {seed}")
    left = tokens
    for path in rng.sample(list(files), len(files)):
        if left <= 0:
            return
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        start = rng.randrange(max(1, len(text) - CHARACTERS * PIECE))
        part = text[start : start + CHARACTERS * PIECE]
        ids: list[int] = tokenizer(part, add_special_tokens=False)["input_ids"][:PIECE]
        if len(ids) >= LEAST:
            left -= len(ids)
            yield ids


def card(config: ClosedFormConfig, tokens: int, files: int, options: argparse.Namespace) -> str:
    first, last = config.layer_indices[0], config.layer_indices[-1]
    module = config.target_modules[0]
    return f"""# Closed-form hypernetwork for {config.base_model_name_or_path}

Measured by Imprint on {tokens:,} tokens of ordinary text, drawn from {files:,} files (seed {options.seed}).
The text is not in it: it holds second moments of the inputs of `{module}` in layers {first} to {last},
in {config.axes} axes each beside their diagonal, and of the output's errors. Step {config.step},
ridge {config.ridge:g}, damping {config.damping}, rank {config.rank}.

It makes an adapter of what an agent wrote in a session, in one forward pass and a linear solve.
`imprint evaluate ADAPTER` says what an adapter does to sessions that it was not made of.
"""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
