"""`hypernetworks train`: from a base model's folder to a hypernetwork's."""

import argparse
import json
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError

from imprint_trainer.data.session import first_fault
from imprint_trainer.doc_to_lora.checkpoint import store
from imprint_trainer.doc_to_lora.training import metrics
from imprint_trainer.doc_to_lora.training.arguments import add_machine_arguments, at_least_one, load
from imprint_trainer.doc_to_lora.training.card import hypernetwork_card, write_card
from imprint_trainer.doc_to_lora.training.config import HypernetworkTrainingConfig
from imprint_trainer.doc_to_lora.training.loop import TrainedHypernetwork, train_hypernetwork
from imprint_trainer.doc_to_lora.training.refusal import TrainingRefused
from imprint_trainer.doc_to_lora.training.sources import open_source

RESULT = "hypernetwork"  # sub-folder of --out
SETTINGS_FILE = "settings.json"  # beside the card, for --config
SETTINGS = ("steps", "seed", "documents", "distillation_weight", "checkpoint_steps")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_machine_arguments(parser)
    parser.add_argument("--base-name", required=True, help="name by which the service knows the base model")
    parser.add_argument("--out", required=True, type=Path, help="folder of the training; an interrupted one goes on")
    parser.add_argument("--data", default="synthetic", help="synthetic (default), a JSONL file or a folder of sessions")
    parser.add_argument("--init", type=Path, help="folder of a trained hypernetwork to go on from")
    parser.add_argument("--config", type=Path, help="JSON file of settings; the flags below win over it")
    parser.add_argument("--steps", type=at_least_one)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--documents", type=at_least_one, help="documents in a step")
    parser.add_argument("--distillation-weight", type=float, help="share of the teacher in the loss on answers, 0 to 1")
    parser.add_argument("--checkpoint-steps", type=at_least_one, help="steps between two checkpoints")
    parser.add_argument("--max-minutes", type=float, help="stop after this time; the same command goes on from there")
    parser.add_argument("--json", action="store_true", help="progress as JSON lines")


def run(options: argparse.Namespace, clock: Callable[[], float] = time.monotonic) -> None:
    """Raises TrainerError, TrainingRefused."""
    began = clock()
    limit = options.max_minutes
    if limit is not None and not limit > 0:
        raise TrainingRefused("--max-minutes must be more than 0.")
    config = read_settings(options)
    source = open_source(options.data, questions=config.questions)
    base = load(options, options.base_name)
    say = _printer(options.json)
    trained = train_hypernetwork(
        base,
        config,
        source,
        options.out,
        clock=clock,
        init=options.init,
        on_step=lambda report: say("step", report),
        on_retention=lambda done, total: say("retention", {"rows": done, "of": total}),
        on_start=lambda: say("start", {"statements": config.statements}),
        out_of_time=lambda: limit is not None and clock() - began > limit * 60,
    )
    folder = options.out / RESULT
    save(trained, folder)
    card = hypernetwork_card(
        base.name, config, source.identity, command_of(options, config), trained.steps, metrics.read(options.out)
    )
    write_card(folder, card)
    (folder / SETTINGS_FILE).write_text(config.model_dump_json(indent=1) + "\n", encoding="utf-8")
    say("saved", {"path": str(folder), "step": trained.steps, "steps": config.steps})


def read_settings(options: argparse.Namespace) -> HypernetworkTrainingConfig:
    """Defaults, then the file, then the flags. Raises TrainingRefused, naming the field."""
    settings: Any = {}
    if options.config:
        try:
            settings = json.loads(options.config.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise TrainingRefused(f"--config: {options.config.name} cannot be read as JSON.") from None
        if not isinstance(settings, dict):
            raise TrainingRefused(f"--config: {options.config.name} holds no JSON object.")
    given = {name: value for name in SETTINGS if (value := getattr(options, name)) is not None}
    try:
        return HypernetworkTrainingConfig.model_validate({**settings, **given})
    except ValidationError as error:
        raise TrainingRefused(f"Settings: {first_fault(error)}.") from None


def save(trained: TrainedHypernetwork, folder: Path) -> None:
    """bf16: half the size; the service reads it into fp32."""
    network = trained.hypernetwork
    tensors = {name: tensor.detach().cpu().to(torch.bfloat16) for name, tensor in network.state_dict().items()}
    store.save(network.config, tensors, folder)


def command_of(options: argparse.Namespace, config: HypernetworkTrainingConfig) -> str:
    """The command to repeat the training, without this machine's folders."""
    words = ["python -m imprint_trainer hypernetworks train --base BASE --out OUT"]
    words += ["--base-name", shlex.quote(options.base_name), "--data", shlex.quote(Path(options.data).name)]
    if options.init is not None:
        words += ["--init", shlex.quote(options.init.name)]
    words += ["--quantization", options.quantization, "--steps", str(config.steps), "--seed", str(config.seed)]
    default = HypernetworkTrainingConfig()
    if config.model_copy(update={"steps": default.steps, "seed": default.seed}) != default:
        words += ["--config", SETTINGS_FILE]
    return " ".join(words)


def _printer(as_json: bool) -> Callable[[str, dict[str, Any]], None]:
    def say(event: str, facts: dict[str, Any]) -> None:
        text = json.dumps({"event": event, **facts}) if as_json else _line(event, facts)
        print(text, flush=True)

    return say


def _line(event: str, facts: dict[str, Any]) -> str:
    return f"{event}  " + "  ".join(f"{name} {value}" for name, value in facts.items())
