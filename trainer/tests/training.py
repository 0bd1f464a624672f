"""Shortcuts to train the tiny model in tests."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from imprint_trainer.data.windows import Window
from imprint_trainer.lora.adapter import Payload, adapter_config, fresh_adapter, resolve_targets, trained_tensors
from imprint_trainer.lora.checkpoint import Checkpoint, CheckpointWriter
from imprint_trainer.lora.schedule import Trained
from imprint_trainer.lora.steps import LoraTraining, plan_steps
from imprint_trainer.lora.train import train
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.memory import PeakMemory
from imprint_trainer.publish.peft_format import write_weights


def settings(**changes: Any) -> LoraTraining:
    """A window a step, however short it is."""
    defaults = {"seed": 11, "rank": 4, "alpha": 8.0, "learning_rate": 1e-2, "epochs": 4, "accumulation": 1}
    return LoraTraining(**defaults | changes)


def train_tiny(
    base: LoadedBase,
    windows: Sequence[Window],
    training: LoraTraining,
    *,
    on_step: Callable[[dict[str, Any]], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
    on_model: Callable[[Any], None] = lambda _: None,
    writer: CheckpointWriter | None = None,
    resume: Checkpoint | None = None,
    held_out: Sequence[Window] = (),
    neutral_rise: Callable[[Any], float] | None = None,
) -> tuple[Trained, Payload]:
    targets = resolve_targets(base.model, training.target_modules)
    with fresh_adapter(base, rank=training.rank, alpha=training.alpha, targets=targets, seed=training.seed) as model:
        on_model(model)
        trained = train(
            model,
            windows,
            training,
            plan_steps(windows, training),
            device=base.device,
            memory=PeakMemory(base.device),
            on_step=on_step,
            cancelled=cancelled,
            writer=writer,
            resume=resume,
            held_out=held_out,
            neutral_rise=neutral_rise,
        )
        tensors = trained_tensors(model)
    config = adapter_config(rank=training.rank, alpha=training.alpha, targets=targets, base_model_name="tiny")
    return trained, Payload(tensors, config)


def saved(folder: Path, payload: Payload) -> Path:
    folder.mkdir()
    write_weights(folder, payload)
    return folder
