"""A LoRA training, from its specification to files that are proved."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from imprint_trainer.data.prepare import Prepared
from imprint_trainer.data.sessions import prepare_sessions, sizes, under_other_names
from imprint_trainer.data.windows import Window, longest
from imprint_trainer.files import sha256_of
from imprint_trainer.jobs.context import JobContext
from imprint_trainer.jobs.reading import Reading, seconds_of_a_window
from imprint_trainer.jobs.resume import (
    OF_THE_MACHINE,
    begun_as,
    checkpoint_of,
    differences,
    identity_of,
    selection_of,
    writer_of,
)
from imprint_trainer.lora.adapter import Payload, adapter_config, fresh_adapter, resolve_targets, trained_tensors
from imprint_trainer.lora.schedule import Trained
from imprint_trainer.lora.steps import LEARN, LoraTraining, Steps, default_rate, in_parts, step_tokens
from imprint_trainer.lora.train import checkpointed, measured_speed, salvage, train
from imprint_trainer.lora.within import FORWARD, HELD, Fit, Within, chosen_before, seconds_of
from imprint_trainer.models.causal_lm import CausalLM, LoadedBase, PeftCausalLM
from imprint_trainer.models.memory import Planned, planned_memory, tensors_given_back, window_limit
from imprint_trainer.protocol import TrainLoraSpec
from imprint_trainer.publish.losses import neutral_rise_over
from imprint_trainer.publish.prove import sample, save_and_prove
from imprint_trainer.publish.provenance import base_sha256, provenance


def train_lora(spec: TrainLoraSpec, context: JobContext) -> dict[str, Any]:
    """The contracts' `JobResult`; the files are in `spec.output_dir`."""
    began = context.clock()
    context.phase("preparing_data")
    checkpoint = checkpoint_of(spec)
    begun = begun_as(checkpoint)
    limit = begun.request.training.max_length if begun else window_limit(spec, context.device)
    dequantised = None if begun is None else begun.base_model.dequantised_on_load
    prepared = prepare_sessions(spec, context.tokenizer(spec.base_model), limit=limit)
    memory = partial(planned_memory, spec, longest(prepared.windows), device=context.device)
    memory(dequantised=dequantised).require_fit()
    context.phase("loading_model")
    base = context.base(spec.base_model, spec.quantization, dequantised=dequantised)
    training = training_of(spec, prepared, base.model.config.get_text_config().hidden_size)
    targets = resolve_targets(base.model, training.target_modules)
    planned = memory(dequantised=base.dequantised)
    fit, speed = Fit.of(prepared, training), 0.0
    if spec.within is not None and begun is not None:
        numbers = {key: begun.plan[key] for key in ("windows", "max_steps")}
        fit = chosen_before(fit, training, **numbers).noting(begun.plan["remarks"][-1])
    elif spec.within is not None:
        base_sha256(base)  # takes its time too
        with trainable(base, spec, targets, planned) as model:
            speed = speed_of(model, fit.learned, base, context)
        fit = Within(spec.within, context.clock() - began, speed).fit(fit, training)
    prepared, learned, steps = fit.prepared, fit.learned, fit.steps
    again = again_of(spec, context, prepared, training, steps)
    plan = plan_of(training, prepared, steps, targets, planned)
    context.emit({"type": "plan", "plan": plan})
    identity = identity_of(spec, training, plan, base)
    writer = writer_of(spec, identity, base, context)
    if checkpoint is not None:
        identity.require_same(checkpoint.state.identity)
    tested = [window for _, window in prepared.held_out.windows] if prepared.held_out else []
    salvaged = checkpoint if spec.checkpoint.start == "salvage" else None
    neutral_rise = neutral_rise_over(base)
    reading: Reading | None = None  # a salvage trains nothing
    context.phase("saving" if salvaged else "training")

    def in_time(tokens_per_second: float) -> bool:
        """Whether another step and the proof end within the time that the training may take."""
        left = HELD * seconds_of(spec.within) - (context.clock() - began) if spec.within else math.inf
        return (steps.tokens / steps.per_epoch + fit.proof + FORWARD * fit.held_out) / tokens_per_second <= left

    with trainable(base, spec, targets, planned) as model:
        if salvaged is not None:
            holds_out = prepared.held_out is not None
            trained = salvage(model, learned, training, steps, salvaged, again=again, holds_out=holds_out, looks=True)
        else:
            speed = speed or speed_of(model, learned, base, context)
            reading = Reading(
                context.emit,
                training=len(learned) * steps.max_epochs,
                proof=2 * (len(sample(prepared.windows)) + len(tested)),
                seconds=seconds_of_a_window(steps, learned, speed),
                clock=context.clock,
            )
            trained = train(
                model,
                learned,
                training,
                steps,
                device=base.device,
                memory=context.memory,
                on_step=lambda progress: context.emit({"type": "progress", "progress": with_proof(progress, reading)}),
                on_window=reading.trained,
                cancelled=context.cancelled,
                writer=writer,
                resume=checkpoint,
                again=again,
                held_out=tested,
                neutral_rise=neutral_rise,
                in_time=in_time,
                clock=context.clock,
            )
        tensors = trained_tensors(model)
    if salvaged is None:
        context.phase("saving")
    payload = Payload(
        tensors, adapter_config(rank=spec.rank, alpha=spec.alpha, targets=targets, base_model_name=spec.base_model_name)
    )
    return save_and_prove(
        Path(spec.output_dir),
        payload,
        base=base,
        windows=prepared.windows,
        held_out=prepared.held_out,
        record=record_of(spec, training, plan, trained, base),
        card={
            "adapter_id": spec.adapter_id,
            "base_model_name": spec.base_model_name,
            "method": "QLoRA" if spec.quantization == "nf4" else "LoRA",
            "task_type": spec.task_type,
            "payload_note": f"Rank {spec.rank}, {len(trained.losses)} optimizer steps, seed {spec.seed}.",
        },
        on_proving=partial(begin_proof, context, reading),
        stop=partial(go_on, context, reading),
        warnings=[] if salvaged else differences(checkpoint, writer),
        remarks=remarks_of(spec, plan, trained),
        partial={"step": salvaged.state.step, "max_steps": salvaged.state.max_steps} if salvaged else None,
    )


@contextmanager
def trainable(
    base: LoadedBase, spec: TrainLoraSpec, targets: Sequence[str], planned: Planned
) -> Iterator[PeftCausalLM]:
    with (
        fresh_adapter(base, rank=spec.rank, alpha=spec.alpha, targets=targets, seed=spec.seed) as model,
        checkpointed(model, planned.checkpointing),
        tensors_given_back(planned.low_memory),
    ):
        yield model


def speed_of(model: CausalLM, learned: Sequence[Window], base: LoadedBase, context: JobContext) -> float:
    """Tokens a second, by the longest window."""
    return measured_speed(
        model, max(learned, key=lambda window: len(window.input_ids)), base.device, clock=context.clock
    )


def again_of(
    spec: TrainLoraSpec, context: JobContext, prepared: Prepared, training: LoraTraining, steps: Steps
) -> list[list[Window]]:
    """What the passes after the first read, where only some requests name what calls take up: `under_other_names`."""
    passes = min(steps.max_epochs, LEARN.renamed_most) if prepared.arguments else 1
    tokenizer = context.tokenizer(spec.base_model)
    read = (under_other_names(spec, tokenizer, prepared, number) for number in range(1, passes))
    found = [in_parts(windows, training, least=steps.per_epoch) for windows in read]
    return found if all(len(windows) >= steps.per_epoch for windows in found) else []


def remarks_of(spec: TrainLoraSpec, plan: dict[str, Any], trained: Trained) -> list[str]:
    """What of a training was chosen and left out for the time that it may take."""
    if spec.within is None:
        return []
    ended = f"It ended after step {len(trained.losses)}, for the time: slower than was measured at the start."
    return [plan["remarks"][-1], *([ended] if trained.stopped == "time" else [])]


def with_proof(progress: dict[str, Any], reading: Reading) -> dict[str, Any]:
    """The time that is left, that of the proof included."""
    return progress | {"eta_seconds": progress["eta_seconds"] + reading.proof_seconds}


def begin_proof(context: JobContext, reading: Reading | None) -> None:
    context.phase("proving")
    if reading is not None:
        reading.prove()


def go_on(context: JobContext, reading: Reading | None) -> None:
    """Before each window of the proof."""
    context.stop_if_cancelled()
    if reading is not None:
        reading.proves()


def training_of(spec: TrainLoraSpec, prepared: Prepared, width: int) -> LoraTraining:
    step = step_tokens(prepared.supervised_tokens, spec.profile)
    return LoraTraining(
        profile=spec.profile,
        seed=spec.seed,
        epochs=spec.epochs,
        rank=spec.rank,
        alpha=spec.alpha,
        learning_rate=spec.learning_rate or default_rate(width, step=step),
        target_modules=None if spec.target_modules is None else tuple(spec.target_modules),
        max_length=prepared.max_length,
        quantization=spec.quantization,
    )


def plan_of(
    training: LoraTraining, prepared: Prepared, steps: Steps, targets: list[str], planned: Planned
) -> dict[str, Any]:
    """The contracts' `TrainingPlan`."""
    return {
        "seed": training.seed,
        "epochs": None if training.open_ended else steps.max_epochs,
        "max_steps": steps.maximum,
        "accumulation": steps.accumulation,
        "learning_rate": training.learning_rate,
        "rank": training.rank,
        "alpha": training.alpha,
        "max_length": training.max_length,
        "target_modules": targets,
        "quantization": training.quantization,
        "gradient_checkpointing": planned.checkpointing,
        "memory": planned.memory,
        **sizes(prepared, steps.max_epochs),
    }


def record_of(
    spec: TrainLoraSpec, training: LoraTraining, plan: dict[str, Any], trained: Trained, base: LoadedBase
) -> dict[str, Any]:
    """training.json: enough to do it again. No paths and no times, so that the same request gives the same bytes."""
    skipped = {one["session_id"] for one in plan["skipped"]}
    return {
        "method": "lora",
        "task_type": spec.task_type,
        "sessions": [
            {"session_id": session_id, "sha256": sha256_of(Path(path))}
            for session_id, path in zip(spec.session_ids, spec.session_paths, strict=True)
            if session_id not in skipped
        ],
        "selection": selection_of(spec).model_dump(mode="json"),
        "config": training.model_dump(mode="json"),
        "plan": {key: value for key, value in plan.items() if key not in OF_THE_MACHINE},
        "steps": len(trained.losses),
        "stopped": trained.stopped,
        "losses": list(trained.losses),
        "epoch_losses": list(trained.epoch_losses),
        "held_out_losses": list(trained.held_out_losses),
        "kept_epoch": trained.kept_epoch,
        "neutral_rises": list(trained.neutral_rises),
        "data_order": [list(batch) for batch in trained.order],
        **provenance(base, spec.base_model_name),
    }
