"""Trainings that take a second: a tiny base, a small hypernetwork, few rows."""

from pathlib import Path
from typing import Any

from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.config import HypernetworkTrainingConfig
from imprint_trainer.doc_to_lora.training.fresh import blank_hypernetwork, compute_start
from imprint_trainer.doc_to_lora.training.prompts import Prompts
from imprint_trainer.doc_to_lora.training.retention import RetentionRow
from imprint_trainer.models.load import load_base

SHAPE = {
    "rank": 2,
    "latent_size": 16,
    "projection_size": 32,
    "heads": 2,
    "head_dim": 8,
    "hidden_size": 32,
    "basis_size": 24,
}
RETENTION = {"unrelated": 4, "own": 3, "foreign": 4, "prose": 2, "answer_tokens": 3}
SETTINGS: dict[str, Any] = {
    "steps": 6,
    "documents": 3,
    "top_k": 8,
    "warmup_steps": 0,
    "statements": 20,
    "checkpoint_steps": 100,
    "shape": SHAPE,
    "retention": RETENTION,
    "stages": [{"until": 1.0, "kinds": ["code"], "max_facts": 2, "max_fillers": 0, "max_chunks": 2}],
}


def small_base(folder: Path) -> Base:
    loaded = load_base(str(folder), quantization="none", device="cpu")
    return Base(loaded.model, loaded.tokenizer, "tiny/base-instruct")


def small_config(**changes: Any) -> HypernetworkTrainingConfig:
    return HypernetworkTrainingConfig.model_validate({**SETTINGS, **changes})


def fresh_hypernetwork(
    base: Base, prompts: Prompts, config: HypernetworkTrainingConfig, rows: list[RetentionRow]
) -> Hypernetwork:
    """As a training that has no checkpoint starts from."""
    hypernetwork, head = blank_hypernetwork(base, config)
    compute_start(hypernetwork, head, base, prompts, config, rows)
    return hypernetwork
