"""A generated update, trained on for a few steps on the session's own windows (ADR 38)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from imprint_trainer.adapters.hidden_states import readers
from imprint_trainer.data.windows import Window
from imprint_trainer.doc_to_lora.config import AdapterPlace
from imprint_trainer.doc_to_lora.generate import Update
from imprint_trainer.doc_to_lora.targets import module_path
from imprint_trainer.errors import NothingToTrain
from imprint_trainer.lora.adapter import fresh_adapter
from imprint_trainer.lora.config import LoraTraining
from imprint_trainer.lora.factors import Factors
from imprint_trainer.lora.gradients import on_this_process
from imprint_trainer.lora.loop import train
from imprint_trainer.lora.memory import PeakMemory
from imprint_trainer.lora.schedule import Steps, epoch_order
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.models.causal_lm import CausalLM

RATE = 3e-4  # peak


def refine(
    update: Update,
    config: AdapterPlace,
    base: LoadedBase,
    windows: Sequence[Window],
    steps: int,
    *,
    seed: int,
    rate: float = RATE,
    memory: PeakMemory | None = None,
    on_step: Callable[[dict[str, Any]], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Update:
    """The update after `steps` optimizer steps of one window each, in the seeded order of trainings; only its own
    matrices are trained, each A and B by itself. The same base, windows and seed give the same update.

    Raises NothingToTrain where nothing is supervised, and what trainings raise.
    """
    lessons = [window for window in windows if window.supervised_count]
    if not lessons:
        raise NothingToTrain("The agent wrote nothing in what was read of the session: set refine_steps to 0.")
    taught = turns(lessons, steps, seed=seed)
    places = [module_path(layer, module) for module in update.factors for layer in config.layer_indices]
    rank = next(iter(update.factors.values())).A.shape[-2]
    training = LoraTraining(seed=seed, epochs=1, rank=rank, alpha=rank, learning_rate=rate, accumulation=1)
    with fresh_adapter(base, rank=rank, alpha=rank, targets=places, seed=seed) as model:
        write_factors(model, update.factors, config)
        train(
            model,
            taught,
            training,
            Steps(1, len(taught), 1),
            device=base.device,
            memory=memory or PeakMemory(base.device),
            on_step=on_step,
            cancelled=cancelled,
            gradients=on_this_process(model, taught, base.device, readers(base, min(config.layer_indices))[0]),
        )
        return replace(update, factors=read_factors(model, update.factors, config))


def turns(windows: Sequence[Window], steps: int, *, seed: int) -> list[Window]:
    """So many windows: every one once, in a seeded order, before any of them again."""
    order: list[int] = []
    while len(order) < steps:
        order += epoch_order(windows, seed=seed, epoch=len(order) // len(windows))
    return [windows[index] for index in order[:steps]]


@torch.no_grad()
def write_factors(model: CausalLM, factors: dict[str, Factors], config: AdapterPlace) -> None:
    """Into a PEFT model whose adapter multiplies by 1."""
    for module, pair in factors.items():
        for place, layer in enumerate(config.layer_indices):
            a, b = _weights(model, layer, module)
            a.copy_(pair.A[place])
            b.copy_(pair.B[place].mT * config.lora_alpha)


@torch.no_grad()
def read_factors(model: CausalLM, factors: dict[str, Factors], config: AdapterPlace) -> dict[str, Factors]:
    found: dict[str, Factors] = {}
    for module in factors:
        pairs = [_weights(model, layer, module) for layer in config.layer_indices]
        found[module] = Factors(
            torch.stack([a.detach().clone() for a, _ in pairs]),
            torch.stack([b.detach().mT / config.lora_alpha for _, b in pairs]),
        )
    return found


def _weights(model: CausalLM, layer: int, module: str) -> tuple[torch.Tensor, torch.Tensor]:
    """lora_A [r, d_in] and lora_B [d_out, r] of one target."""
    adapted: Any = model.get_submodule(f"base_model.model.{module_path(layer, module)}")
    return adapted.lora_A["default"].weight, adapted.lora_B["default"].weight
