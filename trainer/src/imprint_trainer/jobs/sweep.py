"""A sweep, from its specification to the chosen trial's files, proved where possible on text that chose nothing."""

from pathlib import Path
from typing import Any

from imprint_trainer.data.sessions import prepare_sessions
from imprint_trainer.data.windows import longest
from imprint_trainer.errors import NothingHeldOut
from imprint_trainer.jobs.context import JobContext
from imprint_trainer.jobs.halving import (
    Found,
    Rungs,
    Trial,
    best_of,
    halvings,
    read_found,
    run_trials,
    steps_left,
    write_found,
)
from imprint_trainer.jobs.lora import again_of, plan_of, record_of, training_of
from imprint_trainer.jobs.resume import Identity, identity_of
from imprint_trainer.jobs.trials import Setting, Texts, Trials, parted, size_of
from imprint_trainer.lora.adapter import Payload, adapter_config, resolve_targets
from imprint_trainer.lora.steps import in_parts, plan_steps
from imprint_trainer.models.memory import planned_memory, window_limit
from imprint_trainer.protocol import TrainLoraSpec, TrainSweepSpec
from imprint_trainer.publish.prove import save_and_prove


def train_sweep(spec: TrainSweepSpec, context: JobContext) -> dict[str, Any]:
    """The contracts' `SweepResult`; the files are in `spec.output_dir`.

    Raises NothingHeldOut before a model is loaded, and what a LoRA job raises."""
    context.phase("preparing_data")
    folder = Path(spec.checkpoint.dir)
    before = read_found(folder) if spec.checkpoint.start == "resume" else None
    begun = None if before is None else Identity.parse(before.identity)
    specs = [trial_spec(spec, number) for number in range(1, len(spec.trials) + 1)]
    widest = max(specs, key=lambda one: one.rank)
    limit = window_limit(widest, context.device) if begun is None else begun.request.training.max_length
    dequantised = None if begun is None else begun.base_model.dequantised_on_load
    prepared = prepare_sessions(widest, context.tokenizer(spec.base_model), limit=limit)
    if prepared.held_out is None:
        raise NothingHeldOut("Nothing can be held out of so short sessions, and a sweep chooses by held-out text.")
    texts = parted(prepared.held_out)
    length = longest(prepared.windows)
    planned_memory(widest, length, device=context.device, dequantised=dequantised).require_fit()
    context.phase("loading_model")
    base = context.base(spec.base_model, spec.quantization, dequantised=dequantised)
    width = base.model.config.get_text_config().hidden_size
    targets = resolve_targets(base.model, spec.target_modules)
    planned = planned_memory(widest, length, device=context.device, dequantised=base.dequantised)
    settings, plans, again = {}, {}, {}
    for number, one in enumerate(specs, start=1):
        training = training_of(one, prepared, width)
        learned = in_parts(prepared.windows, training)  # the same for each trial
        steps = plan_steps(learned, training, renamed=bool(prepared.arguments))
        plans[number] = plan_of(training, prepared, steps, targets, planned)
        if steps.max_epochs not in again:
            again[steps.max_epochs] = again_of(one, context, prepared, training, steps)
        identity = identity_of(one, training, plans[number], base)
        settings[number] = Setting(training, steps, again[steps.max_epochs], identity)
    shares = halvings(spec.early_stopping, max_steps=[one.steps.maximum for one in settings.values()])
    identity = settings[specs.index(widest) + 1].identity
    found = Found(identity=identity.to_json(), trials=tuple(trial_of(number, one) for number, one in settings.items()))
    remark = (
        f"{len(specs)} trials on the same windows, of which held-out text chooses one: this is the plan of the widest."
    )
    plan = plans[specs.index(widest) + 1]
    plan_told = plan | {"max_steps": steps_left(found, shares), "remarks": [*plan["remarks"], remark]}
    context.emit({"type": "plan", "plan": plan_told})
    if before is not None:
        identity.require_same(before.identity)
        found = before
    trials = Trials(
        base,
        context,
        learned,
        texts,
        targets,
        settings,
        folder,
        spec.checkpoint.seconds,
        planned.checkpointing,
        planned.low_memory,
    )
    context.phase("training")
    found = run_trials(found, shares, SweepProgress(spec, shares, trials).rungs())
    chosen = best_of(found)
    trained, tensors = trials.restored(chosen)
    context.phase("saving")
    setting, one = settings[chosen.trial], specs[chosen.trial - 1]
    sweep = sweep_of(spec, shares, found, texts, best=chosen.trial)
    record = record_of(one, setting.training, plans[chosen.trial], trained, base) | {"sweep": sweep}
    result = save_and_prove(
        Path(spec.output_dir),
        Payload(
            tensors,
            adapter_config(rank=one.rank, alpha=one.alpha, targets=targets, base_model_name=spec.base_model_name),
        ),
        base=base,
        windows=prepared.windows,
        held_out=texts.proving,
        record=record,
        card={
            "adapter_id": spec.adapter_id,
            "base_model_name": spec.base_model_name,
            "method": "QLoRA" if spec.quantization == "nf4" else "LoRA",
            "task_type": spec.task_type,
            "payload_note": f"Rank {one.rank}, {len(trained.losses)} optimizer steps, seed {spec.seed}, "
            f"chosen of {len(specs)} trials.",
        },
        on_proving=lambda: context.phase("proving"),
        stop=context.stop_if_cancelled,
        warnings=sorted(trials.warnings),
    )
    return {**result, "sweep": sweep}


def trial_spec(spec: TrainSweepSpec, number: int) -> TrainLoraSpec:
    """What a LoRA job alone is told that trains as this trial does. Trials count from 1."""
    shared = spec.model_dump(exclude={"trials", "early_stopping"})
    return TrainLoraSpec.model_validate(shared | {"within": None} | spec.trials[number - 1].model_dump())


def trial_of(number: int, setting: Setting) -> Trial:
    training, steps = setting.training, setting.steps
    return Trial(
        trial=number,
        rank=training.rank,
        alpha=training.alpha,
        learning_rate=training.learning_rate,
        epochs=steps.max_epochs,
        max_steps=steps.maximum,
    )


def sweep_of(
    spec: TrainSweepSpec, shares: list[float], found: Found, texts: Texts, *, best: int | None = None
) -> dict[str, Any]:
    """The contracts' `Sweep`."""
    return {
        "early_stopping": spec.early_stopping,
        "halvings": shares,
        "trials": [trial.model_dump(mode="json") for trial in found.trials],
        "best": best,
        "chosen_on": size_of(texts.choosing),
        "unseen": None if texts.unseen is None else size_of(texts.unseen),
    }


class SweepProgress:
    """Rungs whose callbacks say how the whole sweep goes, and keep what it has found."""

    def __init__(self, spec: TrainSweepSpec, shares: list[float], trials: Trials) -> None:
        self._spec = spec
        self._shares = shares
        self._trials = trials
        self._found: Found | None = None
        self._steps: dict[int, int] = {}  # of each trial
        self._kept: dict[int, int] = {}  # those that a checkpoint holds
        self._told = 0  # of them: a trial that goes on says again what it begins with

    @property
    def found(self) -> Found:
        assert self._found is not None  # run_trials keeps what it has found before each rung
        return self._found

    def rungs(self) -> Rungs:
        return Rungs(self._train_rung, self._keep, self._trials.forget)

    def _keep(self, found: Found) -> None:
        self._found = found
        for steps in (self._steps, self._kept):
            steps.update({one.trial: max(one.steps, steps.get(one.trial, 0)) for one in found.trials})
        write_found(self._trials.folder, found)
        sweep = sweep_of(self._spec, self._shares, found, self._trials.texts)
        self._trials.context.emit({"type": "sweep", "sweep": sweep})

    def _train_rung(self, trial: Trial, until: int | None) -> Trial:
        emit = self._trials.context.emit
        steps = sum(self._steps.values()) + steps_left(self.found, self._shares)

        def on_step(progress: dict[str, Any]) -> None:
            self._steps[trial.trial] = progress["step"]
            step, left = sum(self._steps.values()), progress["steps"] - progress["step"]
            eta = progress["eta_seconds"] / left * (steps - step) if left else 0.0
            emit({"type": "progress", "progress": progress | {"step": step, "steps": steps, "eta_seconds": eta}})

        def on_written(step: int) -> None:
            self._kept[trial.trial] = step
            if (kept := sum(self._kept.values())) > self._told:
                self._told = kept
                emit({"type": "checkpoint", "step": kept})
            running = trial.model_copy(update={"steps": step, "state": "training"})
            self._found = self.found.replaced(running)
            write_found(self._trials.folder, self._found)

        return self._trials.train_rung(trial, until, on_step=on_step, on_written=on_written)
