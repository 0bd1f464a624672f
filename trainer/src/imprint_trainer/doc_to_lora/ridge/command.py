"""`hypernetworks measure`: a ridge hypernetwork for a base model, from ordinary text, in minutes."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from imprint_trainer.doc_to_lora.checkpoint import store
from imprint_trainer.doc_to_lora.ridge.config import RidgeConfig
from imprint_trainer.doc_to_lora.ridge.measure import measure
from imprint_trainer.doc_to_lora.ridge.texts import pieces, text_files
from imprint_trainer.doc_to_lora.targets import PATHS, decoder
from imprint_trainer.models.causal_lm import CausalLM, LoadedBase
from imprint_trainer.models.device import fix_numerics, pick_device
from imprint_trainer.models.load import load_base

MODULE = "down_proj"
TOKENS = 60_000
FIRST, LAST = 2 / 3, 9 / 10  # of the blocks: layers 20 to 26 of 30 did best (docs/imprints.md)
AXES = 1 / 4  # of the inputs' size
NOTED = 10_000  # tokens between two lines of progress


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


def load_machine(options: argparse.Namespace) -> LoadedBase:
    """Raises TrainerError when the base model cannot be loaded."""
    fix_numerics(pick_device(options.device), options.threads)
    return load_base(options.base, quantization=options.quantization, device=options.device)


def run(options: argparse.Namespace) -> None:
    """Raises TrainerError, NoTexts."""
    files = text_files(options.texts)
    base = load_machine(options)
    name = options.base_name or Path(options.base).name
    config = config_for(base.model, name)
    noted = 0

    def on_tokens(tokens: int) -> None:
        nonlocal noted
        if tokens - noted >= NOTED:
            noted = tokens
            print(f"{tokens:,} of {options.tokens:,} tokens", file=sys.stderr, flush=True)

    found = pieces(files, base.tokenizer, options.tokens, options.seed)
    statistics, tokens = measure(base.model, config, found, seed=options.seed, on_tokens=on_tokens)
    store.save(config, statistics.tensors(), options.out)
    (options.out / "README.md").write_text(card(config, tokens, len(files), options), encoding="utf-8")
    print(json.dumps({"path": str(options.out), "tokens": tokens}) if options.json else f"Wrote {options.out}.")


def config_for(model: CausalLM, name: str) -> RidgeConfig:
    """The defaults for a base model. Raises HypernetworkInvalid for other architectures."""
    blocks = decoder(model).layers
    first = int(len(blocks) * FIRST)
    linear: Any = blocks[0].get_submodule(PATHS[MODULE])
    return RidgeConfig(
        base_model_name_or_path=name,
        layer_indices=tuple(range(first, max(first + 1, int(len(blocks) * LAST)))),
        target_modules=(MODULE,),
        d_in={MODULE: linear.in_features},
        d_out={MODULE: linear.out_features},
        feature_size=model.config.hidden_size,
        axes=max(1, int(linear.in_features * AXES)),
    )


def card(config: RidgeConfig, tokens: int, files: int, options: argparse.Namespace) -> str:
    first, last = config.layer_indices[0], config.layer_indices[-1]
    module = config.target_modules[0]
    return f"""# Ridge hypernetwork for {config.base_model_name_or_path}

Measured by Imprint on {tokens:,} tokens of ordinary text, drawn from {files:,} files (seed {options.seed}).
The text is not in it: it holds second moments of the inputs of `{module}` in layers {first} to {last},
in {config.axes} axes each beside their diagonal, and of the output's errors. Step {config.step},
ridge {config.ridge:g}, damping {config.damping}, rank {config.rank}.

It makes an adapter of what an agent wrote in a session, in one forward pass and a linear solve.
`imprint evaluate ADAPTER` says what an adapter does to sessions that it was not made of.
"""
