"""On how many processes a LoRA training runs, and what the others are told."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch

from imprint_trainer.data.windows import Window
from imprint_trainer.jobs.context import JobContext
from imprint_trainer.jobs.memory_plan import Planned
from imprint_trainer.lora.gradients import BatchGradients
from imprint_trainer.lora.parallel.group import group_of, group_of_holders
from imprint_trainer.lora.parallel.messages import Setup, windows_of
from imprint_trainer.lora.parallel.nodes import launch_of
from imprint_trainer.lora.parallel.shares import processes_of
from imprint_trainer.lora.schedule import Steps
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.protocol import TrainLoraSpec


def processes_for(steps: Steps, planned: Planned, base: LoadedBase, context: JobContext) -> int:
    """As many as hold the base together; else as many as were asked for, and have windows, cards or memory."""
    if context.shards > 1:
        return context.shards
    if context.processes == 1:
        return 1
    memory = planned.memory
    return processes_of(
        context.processes,
        windows=steps.accumulation,
        cards=torch.cuda.device_count() * context.node_count if base.device.type == "cuda" else None,
        need_mb=None if memory is None else memory["total_mb"],
        have_mb=0.0 if memory is None else memory["available_mb"] * context.node_count,
    )


def threads_of(processes: int) -> int:
    """Of each, of those that one process has."""
    return max(1, torch.get_num_threads() // processes)


@contextmanager
def shared(
    model: CausalLM,
    windows: Sequence[Window],
    spec: TrainLoraSpec,
    *,
    base: LoadedBase,
    targets: list[str],
    planned: Planned,
    processes: int,
    context: JobContext,
) -> Iterator[BatchGradients | None]:
    """Who computes a step's gradients; None where it is this process alone. Raises Cancelled, and what a member failed
    with."""
    if processes == 1:
        yield None
        return
    taught = windows_of(windows)
    threads = threads_of(min(processes, context.on_each_node))

    def setup(number: int, store: str) -> Setup:
        return Setup(
            number=number,
            processes=processes,
            store=store,
            base_model=spec.base_model,
            quantization=spec.quantization,
            dequantised=base.dequantised,
            device=f"cuda:{number % context.on_each_node}" if base.device.type == "cuda" else "cpu",
            threads=threads,
            rank=spec.rank,
            alpha=spec.alpha,
            targets=targets,
            seed=spec.seed,
            checkpointing=planned.checkpointing,
            scarce=planned.scarce,
            windows=taught,
        )

    if context.held is not None:
        yield group_of_holders(
            context.held.holders, model, windows, setup, stop=context.stop_if_cancelled
        ).add_gradients
        return
    launch, address = launch_of(context.nodes)
    with group_of(
        model,
        windows,
        setup,
        processes=processes,
        stop=context.stop_if_cancelled,
        launch=launch,
        address=address,
    ) as group:
        yield group.add_gradients
