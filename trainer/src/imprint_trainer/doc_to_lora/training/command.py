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
from imprint_trainer.doc_to_lora.training.rest.loop import train_on_rests
from imprint_trainer.doc_to_lora.training.sources import open_source

RESULT = "hypernetwork"  # sub-folder of --out
Say = Callable[[str, dict[str, Any]], None]
Clock = Callable[[], float]
SETTINGS_FILE = "settings.json"  # beside the card, for --config
SETTINGS = ("objective", "steps", "seed", "documents", "distillation_weight", "checkpoint_steps")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_machine_arguments(parser)
    parser.add_argument("--base-name", required=True, help="name by which the service knows the base model")
    parser.add_argument("--out", required=True, type=Path, help="folder of the training; an interrupted one goes on")
    parser.add_argument("--data", default="synthetic", help="synthetic (default), a JSONL file or a folder of sessions")
    parser.add_argument(
        "--objective",
        choices=["questions", "rest"],
        help="questions about documents (default), or the rest of sessions: --data is a folder of groups of sessions",
    )
    parser.add_argument("--dev", type=Path, help="rest: folder of other groups, measured now and then")
    parser.add_argument("--texts", type=Path, help="rest: JSON list of files that adapters must leave alone")
    parser.add_argument("--init", type=Path, help="folder of a trained hypernetwork to go on from")
    parser.add_argument("--config", type=Path, help="JSON file of settings; the flags below win over it")
    parser.add_argument("--steps", type=at_least_one)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--documents", type=at_least_one, help="documents in a step")
    parser.add_argument("--distillation-weight", type=float, help="share of the teacher in the loss on answers, 0 to 1")
    parser.add_argument("--checkpoint-steps", type=at_least_one, help="steps between two checkpoints")
    parser.add_argument("--max-minutes", type=float, help="stop after this time; the same command goes on from there")
    parser.add_argument("--json", action="store_true", help="progress as JSON lines")


def run(options: argparse.Namespace, clock: Clock = time.monotonic) -> None:
    """Raises TrainerError, TrainingRefused."""
    began = clock()
    limit = options.max_minutes
    if limit is not None and not limit > 0:
        raise TrainingRefused("--max-minutes must be more than 0.")
    config = read_settings(options)
    say = _printer(options.json)
    if config.objective == "rest":
        trained, identity = _on_rests(options, config, say, clock, began)
    else:
        trained, identity = _on_questions(options, config, say, clock, began)
    folder = options.out / RESULT
    save(trained, folder)
    card = hypernetwork_card(
        options.base_name, config, identity, command_of(options, config), trained.steps, metrics.read(options.out)
    )
    write_card(folder, card)
    (folder / SETTINGS_FILE).write_text(config.model_dump_json(indent=1) + "\n", encoding="utf-8")
    say("saved", {"path": str(folder), "step": trained.steps, "steps": config.steps})


def _on_rests(
    options: argparse.Namespace, config: HypernetworkTrainingConfig, say: Say, clock: Clock, began: float
) -> tuple[TrainedHypernetwork, str]:
    if options.init is None:
        raise TrainingRefused("--objective rest goes on from a trained hypernetwork: name its folder with --init.")
    return train_on_rests(
        load(options, options.base_name),
        config,
        Path(options.data),
        options.out,
        clock=clock,
        init=options.init,
        dev=options.dev,
        texts=options.texts,
        on_step=lambda report: say("step", report),
        on_start=lambda: say("start", {"windows": config.rest.axes_texts}),
        out_of_time=lambda: _over(options, clock, began),
    )


def _on_questions(
    options: argparse.Namespace, config: HypernetworkTrainingConfig, say: Say, clock: Clock, began: float
) -> tuple[TrainedHypernetwork, str]:
    source = open_source(options.data, questions=config.questions)
    base = load(options, options.base_name)
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
        out_of_time=lambda: _over(options, clock, began),
    )
    return trained, source.identity


def _over(options: argparse.Namespace, clock: Clock, began: float) -> bool:
    return options.max_minutes is not None and clock() - began > options.max_minutes * 60


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


def _printer(as_json: bool) -> Say:
    def say(event: str, facts: dict[str, Any]) -> None:
        text = json.dumps({"event": event, **facts}) if as_json else _line(event, facts)
        print(text, flush=True)

    return say


def _line(event: str, facts: dict[str, Any]) -> str:
    return f"{event}  " + "  ".join(f"{name} {value}" for name, value in facts.items())
