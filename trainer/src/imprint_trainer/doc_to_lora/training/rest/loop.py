"""The training loop of the objective `rest`: one function with callbacks."""

import math
from collections.abc import Callable
from pathlib import Path

import torch

from imprint_trainer.adapters.write import sha256_of
from imprint_trainer.doc_to_lora.checkpoint import store
from imprint_trainer.doc_to_lora.training import metrics
from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.build import (
    MAX_CHUNK_LENGTH,
    fold,
    make_config,
    named_sizes,
    parameter_groups,
)
from imprint_trainer.doc_to_lora.training.config import HypernetworkTrainingConfig
from imprint_trainer.doc_to_lora.training.fresh import blank_hypernetwork
from imprint_trainer.doc_to_lora.training.loop import Report, TrainedHypernetwork
from imprint_trainer.doc_to_lora.training.muon import Muon
from imprint_trainer.doc_to_lora.training.refusal import TrainingRefused
from imprint_trainer.doc_to_lora.training.rest.batches import make_rows
from imprint_trainer.doc_to_lora.training.rest.kept import KeptReadings
from imprint_trainer.doc_to_lora.training.rest.measure import measure, measured_passages, windows_of
from imprint_trainer.doc_to_lora.training.rest.noted import Notes
from imprint_trainer.doc_to_lora.training.rest.passages import read_groups
from imprint_trainer.doc_to_lora.training.rest.reading import SplitBase
from imprint_trainer.doc_to_lora.training.rest.start import start_from
from imprint_trainer.doc_to_lora.training.rest.student import backward
from imprint_trainer.doc_to_lora.training.rest.texts import read_texts
from imprint_trainer.doc_to_lora.training.state import load_state, save_state
from imprint_trainer.errors import AdapterNotFinite


def train_on_rests(
    base: Base,
    config: HypernetworkTrainingConfig,
    data: Path,
    out: Path,
    *,
    clock: Callable[[], float],
    init: Path,
    dev: Path | None = None,
    texts: Path | None = None,
    on_step: Callable[[Report], None] = lambda _: None,
    on_start: Callable[[], None] = lambda: None,
    out_of_time: Callable[[], bool] = lambda: False,
) -> tuple[TrainedHypernetwork, str]:
    """The hypernetwork and the data's identity: from the last checkpoint in `out`, else from the one in `init`.

    `data` and `dev` are folders of groups of canonical sessions, `texts` a JSON list of files. Each step appends a line
    to metrics.jsonl, every `measure_steps`-th with what `dev` says. Raises TrainingRefused, HypernetworkInvalid,
    AdapterNotFinite.
    """
    rest = config.rest
    given = store.load(init, device=base.model.device)
    out.mkdir(parents=True, exist_ok=True)
    base.model.requires_grad_(False).eval()
    made = make_config(base.model, base.name, config.shape).model_copy(update={"chunk_scaling": rest.chunk_scaling})
    if given.config.model_copy(update={"chunk_scaling": rest.chunk_scaling}) != made:
        raise TrainingRefused("--init: the hypernetwork has another base or shape: give its settings.")
    corpus = read_groups(data, base.tokenizer, rest)
    held = read_texts(texts, base.tokenizer, count=rest.texts, length=rest.window_length // 2, seed=config.seed)
    checked = measured_passages(read_groups(dev, base.tokenizer, rest, "--dev"), rest.measured_sessions) if dev else []
    named = config.model_copy(update={"shape": named_sizes(config.shape, made)})
    identity = {
        "base": base.identity,
        "data": corpus.identity,
        "texts": sha256_of(texts) if texts else None,
        "config": named.model_dump(mode="json"),
        "init": sha256_of(init / store.WEIGHTS_FILE),
    }
    split = SplitBase(base.model, made, KeptReadings(out / "readings", int(rest.kept_gigabytes * 1e9)), rest.top_k)
    notes = Notes(base)
    hypernetwork, head = blank_hypernetwork(base, config)
    hypernetwork.config = made
    matrices, others = parameter_groups(hypernetwork)
    parameters = [*matrices, *others]
    optimizers: list[torch.optim.Optimizer] = [
        Muon(matrices, lr=config.muon_learning_rate),
        torch.optim.AdamW(others, lr=config.adamw_learning_rate, weight_decay=0.0),
    ]
    done = load_state(out, hypernetwork, optimizers, identity)
    if done == 0:
        on_start()
        windows = windows_of(corpus, rest.axes_texts, config.seed)
        start_from(given, hypernetwork, head, base, rest, windows, held[: rest.axes_texts])
    metrics.cut_after(out, done)
    while done < config.steps and not out_of_time():
        began = clock()
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = optimizer.defaults["lr"] * config.learning_rate_scale(done)
            optimizer.zero_grad()
        rows = make_rows(corpus, held, notes, rest, documents=config.documents, seed=config.seed, step=done)
        losses = backward(hypernetwork, split, base, rows, rest, MAX_CHUNK_LENGTH)
        if not math.isfinite(losses.total):
            raise AdapterNotFinite(f"The loss of step {done + 1} is not finite.")
        norm = torch.nn.utils.clip_grad_norm_(parameters, config.max_grad_norm, error_if_nonfinite=True)
        for optimizer in optimizers:
            optimizer.step()
        done += 1
        report: Report = {
            "step": done,
            "steps": config.steps,
            "rest_loss": round(losses.rest, 5),
            "rest_loss_of_base": round(losses.rest_of_base, 5),
            "retention_loss": round(losses.retention, 5),
            "grad_norm": round(float(norm), 4),
            "documents_per_second": round(len(rows) / max(clock() - began, 1e-9), 2),
        }
        if checked and (done % rest.measure_steps == 0 or done in (1, config.steps)):
            report |= measure(hypernetwork, split, base, checked, notes, MAX_CHUNK_LENGTH)
        metrics.append(out, report)
        on_step(report)
        if done % config.checkpoint_steps == 0:
            save_state(out, hypernetwork, optimizers, done, identity)
    save_state(out, hypernetwork, optimizers, done, identity)
    return TrainedHypernetwork(fold(hypernetwork), done), corpus.identity
