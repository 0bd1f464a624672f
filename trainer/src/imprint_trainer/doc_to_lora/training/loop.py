"""The training loop: one function with callbacks."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from imprint_trainer.adapters.write import sha256_of
from imprint_trainer.doc_to_lora.checkpoint import store
from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.doc_to_lora.training import metrics
from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.batches import batch_maker
from imprint_trainer.doc_to_lora.training.build import (
    MAX_CHUNK_LENGTH,
    fold,
    make_config,
    named_sizes,
    parameter_groups,
)
from imprint_trainer.doc_to_lora.training.config import HypernetworkTrainingConfig
from imprint_trainer.doc_to_lora.training.fresh import blank_hypernetwork, compute_start
from imprint_trainer.doc_to_lora.training.frozen_base import FrozenBase
from imprint_trainer.doc_to_lora.training.muon import Muon
from imprint_trainer.doc_to_lora.training.parallel import workers
from imprint_trainer.doc_to_lora.training.prompts import Prompts
from imprint_trainer.doc_to_lora.training.retention import VERSION, RetentionRow, make_retention_rows
from imprint_trainer.doc_to_lora.training.retention_cache import load_rows, save_rows
from imprint_trainer.doc_to_lora.training.sources import Source
from imprint_trainer.doc_to_lora.training.state import load_state, save_state
from imprint_trainer.doc_to_lora.training.vocabulary import NOUNS, split
from imprint_trainer.errors import AdapterNotFinite
from imprint_trainer.memory import release_freed_memory

Report = dict[str, float]


@dataclass(frozen=True)
class TrainedHypernetwork:
    """A hypernetwork with an ordinary head, and the steps that it has seen."""

    hypernetwork: Hypernetwork
    steps: int


def train_hypernetwork(
    base: Base,
    config: HypernetworkTrainingConfig,
    source: Source,
    out: Path,
    *,
    clock: Callable[[], float],
    init: Path | None = None,
    on_step: Callable[[Report], None] = lambda _: None,
    on_retention: Callable[[int, int], None] = lambda _, __: None,
    on_start: Callable[[], None] = lambda: None,
    out_of_time: Callable[[], bool] = lambda: False,
) -> TrainedHypernetwork:
    """Train until the last step or until `out_of_time`: from the last checkpoint in `out`, else from the hypernetwork
    in the folder `init`, else from nothing.

    `on_start` is called before the start is computed, which takes minutes. Each step calls `on_step` and appends the
    same dict to metrics.jsonl: step, losses in nats, grad_norm, documents a second by `clock` (seconds). Raises
    TrainingRefused, HypernetworkInvalid, AdapterNotFinite.
    """
    given = None if init is None else store.load(init, device=base.model.device)
    out.mkdir(parents=True, exist_ok=True)
    base.model.requires_grad_(False).eval()
    made = make_config(base.model, base.name, config.shape)
    named = config.model_copy(update={"shape": named_sizes(config.shape, made)})
    identity = {"base": base.identity, "data": source.identity, "config": named.model_dump(mode="json")}
    if init is not None:
        identity["init"] = sha256_of(init / store.WEIGHTS_FILE)
    prompts = Prompts(base.tokenizer)
    frozen = FrozenBase(base.model, prompts.prefix, min(made.layer_indices))
    rows = retention_rows(base, frozen, prompts, config, out, on_retention)
    hypernetwork, head = blank_hypernetwork(base, config)
    matrices, rest = parameter_groups(hypernetwork)
    parameters = [*matrices, *rest]
    optimizers: list[torch.optim.Optimizer] = [
        Muon(matrices[0::2], lr=config.muon_learning_rate),  # two, for two threads
        Muon(matrices[1::2], lr=config.muon_learning_rate),
        torch.optim.AdamW(rest, lr=config.adamw_learning_rate, weight_decay=0.0),
    ]
    batch = batch_maker(base, prompts, config, source, rows, max_chunk_length=MAX_CHUNK_LENGTH)
    done = load_state(out, hypernetwork, optimizers, identity)
    if done == 0:
        on_start()
        compute_start(hypernetwork, head, base, prompts, config, rows, given)
        release_freed_memory()
    metrics.cut_after(out, done)
    with workers(frozen) as team:
        while done < config.steps and not out_of_time():
            began = clock()
            for optimizer in optimizers:
                for group in optimizer.param_groups:
                    group["lr"] = optimizer.defaults["lr"] * config.learning_rate_scale(done)
            losses = team.backward(hypernetwork, parameters, prompts, batch(done), config)
            if not math.isfinite(float(losses.total)):
                raise AdapterNotFinite(f"The loss of step {done + 1} is not finite.")
            norm = torch.nn.utils.clip_grad_norm_(parameters, config.max_grad_norm, error_if_nonfinite=True)
            team.step(optimizers)
            done += 1
            report = {
                "step": done,
                "steps": config.steps,
                "answer_loss": round(float(losses.answer), 5),
                "retention_loss": round(float(losses.retention), 5),
                "grad_norm": round(float(norm), 4),
                "documents_per_second": round(config.documents / max(clock() - began, 1e-9), 2),
            }
            metrics.append(out, report)
            on_step(report)
            if done % config.checkpoint_steps == 0:
                save_state(out, hypernetwork, optimizers, done, identity)
    save_state(out, hypernetwork, optimizers, done, identity)
    return TrainedHypernetwork(fold(hypernetwork), done)


def retention_rows(
    base: Base,
    frozen: FrozenBase,
    prompts: Prompts,
    config: HypernetworkTrainingConfig,
    out: Path,
    on_progress: Callable[[int, int], None],
) -> list[RetentionRow]:
    """From `out` where the same base, seed and settings have made them before."""
    wanted = config.retention
    if wanted.share == 0 or wanted.rows == 0:
        return []
    key: dict[str, Any] = {
        "version": VERSION,
        "base": base.identity,
        "prefix": prompts.prefix,
        "seed": config.seed,
        "top_k": config.top_k,
        "retention": wanted.model_dump(
            mode="json", exclude={"share", "weight", "final_weight", "foreign_odds", "positions"}
        ),
    }
    cached = load_rows(out, key)
    if cached is not None:
        return cached
    words = base.vocabulary or split(NOUNS, False)
    rows = make_retention_rows(
        frozen, prompts, wanted, words=words, k=config.top_k, seed=config.seed, on_progress=on_progress
    )
    save_rows(out, key, rows)
    return rows
