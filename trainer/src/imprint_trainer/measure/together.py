"""`python -m imprint_trainer measure-together`: LoRA trainings side by side against the same one after another.

Made-up windows of some lengths, whole trainings with their optimizers; both ways in turn. Prints one JSON document.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch
from torch import Tensor

from imprint_trainer.adapters.payload import trained_tensors
from imprint_trainer.data.windows import Window
from imprint_trainer.jobs.worker import import_libraries
from imprint_trainer.lora.adapter import fresh_adapter
from imprint_trainer.lora.config import LoraTraining
from imprint_trainer.lora.loop import Stepwise, stepwise, to_end
from imprint_trainer.lora.memory import PeakMemory
from imprint_trainer.lora.profile import default_rate
from imprint_trainer.lora.schedule import Trained, plan_steps
from imprint_trainer.lora.targets import resolve_targets
from imprint_trainer.lora.together.choice import PASS_TOKENS, Choice
from imprint_trainer.lora.together.loop import Together
from imprint_trainer.measure.windows import made_up_windows
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.models.device import fix_numerics, pick_device
from imprint_trainer.models.load import load_base

RANK, WINDOWS, PASSES = 16, 8, 2

Made = tuple[Trained, dict[str, Tensor]]


@dataclass(frozen=True)
class Taken:
    seconds: float
    processor_seconds: float
    made: list[Made]


def training(base: LoadedBase, windows: Sequence[Window], seed: int) -> Stepwise[Made]:
    targets = resolve_targets(base.model, None)
    settings = LoraTraining(
        seed=seed,
        epochs=PASSES,
        rank=RANK,
        alpha=2.0 * RANK,
        learning_rate=default_rate(base.model.config.get_text_config().hidden_size),
    )
    with fresh_adapter(base, rank=RANK, alpha=2.0 * RANK, targets=targets, seed=seed) as model:
        steps, memory = plan_steps(windows, settings), PeakMemory(base.device)
        run = stepwise(model, windows, settings, steps, device=base.device, memory=memory)
        trained = yield from run
        return trained, trained_tensors(model)


def one_after_another(runs: Sequence[Stepwise[Made]]) -> list[Made]:
    return [to_end(run) for run in runs]


def side_by_side(runs: Sequence[Stepwise[Made]], *, limit: int, choice: Choice) -> list[Made]:
    ended: dict[int, Any] = {}
    together: Together[int] = Together(ended.__setitem__, limit=limit, choice=choice)
    for number, run in enumerate(runs):
        together.begin(number, run)
    while len(together):
        together.step()
    return [ended[number] for number in range(len(runs))]


def compare(base: LoadedBase, *, jobs: int, length: int, rounds: int, limit: int) -> dict[str, Any]:
    vocabulary = base.model.config.get_text_config().vocab_size
    texts = [made_up_windows(vocabulary, lengths=[length] * WINDOWS, seed=seed) for seed in range(jobs)]
    choice = Choice()
    alone, together = [], []
    for _ in range(rounds):
        alone.append(taken(lambda: one_after_another(runs_of(base, texts))))
        together.append(taken(lambda: side_by_side(runs_of(base, texts), limit=limit, choice=choice)))
    pairs = list(zip(alone, together, strict=True))
    return {
        "tokens": length,
        "alone_seconds": [one.seconds for one in alone],
        "together_seconds": [one.seconds for one in together],
        "wall_ratio": median(a.seconds / b.seconds for a, b in pairs),
        "processor_ratio": median(a.processor_seconds / b.processor_seconds for a, b in pairs),
        "chosen": choice.together(jobs, jobs * length),
        **differences(alone[0].made, together[0].made),
    }


def runs_of(base: LoadedBase, texts: Sequence[Sequence[Window]]) -> list[Stepwise[Made]]:
    return [training(base, windows, seed) for seed, windows in enumerate(texts)]


def taken(work: Any) -> Taken:
    began, spent = time.perf_counter(), time.process_time()
    made = work()
    return Taken(time.perf_counter() - began, time.process_time() - spent, made)


def differences(alone: Sequence[Made], together: Sequence[Made]) -> dict[str, float]:
    """The largest of any step's loss, and of any weight."""
    pairs = list(zip(alone, together, strict=True))
    losses = [abs(x - y) for a, b in pairs for x, y in zip(a[0].losses, b[0].losses, strict=True)]
    weights = [float((a[1][name] - b[1][name]).abs().max()) for a, b in pairs for name in a[1]]
    return {"loss_difference": max(losses), "weight_difference": max(weights)}


def main(argv: Sequence[str]) -> int:
    """Exit code 0."""
    parser = argparse.ArgumentParser(prog="python -m imprint_trainer measure-together", description=__doc__)
    parser.add_argument("--base", required=True, help="folder or hub id of the base model")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--tokens", type=int, nargs="+", default=[16, 32], help="lengths of windows")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    parser.add_argument("--threads", type=int, help="default: one for each physical core")
    options = parser.parse_args(argv)
    import_libraries()
    device = pick_device(options.device)
    fix_numerics(device, options.threads)
    base = load_base(options.base, device=str(device))
    limit = PASS_TOKENS["cuda" if device.type == "cuda" else "cpu"]
    found = []
    for length in options.tokens:
        found.append(compare(base, jobs=options.jobs, length=length, rounds=options.rounds, limit=limit))
        print(f"{length} tokens: {found[-1]['wall_ratio']:.2f}", file=sys.stderr, flush=True)
    print(json.dumps({"jobs": options.jobs, "threads": torch.get_num_threads(), "lengths": found}))
    return 0
