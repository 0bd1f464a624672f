"""`python -m imprint_bench.length`: what a pass over made-up sessions of several lengths costs.

A few steps on their windows are timed, and the rest of each pass is computed from these: a window of n tokens takes
a n + b n^2 seconds, b for attention. Prints one JSON document.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import linear_regression

import torch

from imprint_bench.report import report
from imprint_bench.synthetic import synthetic_session
from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.data.windows import Window
from imprint_trainer.jobs.worker import import_libraries
from imprint_trainer.lora.adapter import fresh_adapter, resolve_targets
from imprint_trainer.lora.loss import loss_sum
from imprint_trainer.lora.train import checkpointed
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.device import Device, fix_numerics, mixed_precision, pick_device
from imprint_trainer.models.load import load_base
from imprint_trainer.models.locate import read_json
from imprint_trainer.models.memory import PeakMemory, available_mb, of_glibc
from imprint_trainer.models.memory_model import Setting, Shape, longest_window, plan_memory, predict, shape_of

RANK = 16
ALIKE = 0.1  # two windows whose lengths differ by less are measured once
WARMING_UP = 128  # tokens


@dataclass(frozen=True)
class Step:
    """Forward and backward pass of one window."""

    tokens: int
    seconds: float
    checkpointing: bool
    peak_mb: float
    predicted_mb: float


@dataclass(frozen=True)
class Cost:
    """Seconds of a window: `linear` n + `quadratic` n^2."""

    linear: float
    quadratic: float

    def seconds(self, tokens: int) -> float:
        return self.linear * tokens + self.quadratic * tokens**2


def fitted(steps: Sequence[Step]) -> Cost:
    """Least squares of the seconds a token, so that short windows count as much as long ones."""
    per_token = [step.seconds / step.tokens for step in steps]
    if len(steps) < 2:
        return Cost(per_token[0], 0.0)
    quadratic, linear = linear_regression([step.tokens for step in steps], per_token)
    return Cost(linear, quadratic)


def release_freed_memory() -> None:
    """glibc keeps what many passes over texts of different lengths have freed. Does nothing with another C library."""
    trim = of_glibc("malloc_trim")
    if trim is not None:
        trim(0)


def timed(base: LoadedBase, shape: Shape, window: Window) -> Step:
    tokens = len(window.input_ids)
    setting = Setting(
        tokens, RANK, dequantised=base.dequantised, device="cuda" if base.device.type == "cuda" else "cpu"
    )
    setting, _ = plan_memory(shape, setting, available_mb(base.device.type))
    release_freed_memory()
    memory = PeakMemory(base.device)
    targets = resolve_targets(base.model, None)
    with (
        fresh_adapter(base, rank=RANK, alpha=2.0 * RANK, targets=targets, seed=1) as model,
        checkpointed(model, setting.checkpointing),
    ):
        model.train()
        started = time.perf_counter()
        with mixed_precision(base.device, model.dtype):
            loss = loss_sum(model, window, base.device)
        torch.autograd.backward(loss)
        if base.device.type == "cuda":
            torch.cuda.synchronize(base.device)
        seconds = time.perf_counter() - started
        return Step(tokens, seconds, setting.checkpointing, memory.mb(), predict(shape, setting).total)


def nearest(steps: Sequence[Step], tokens: int) -> Step:
    return min(steps, key=lambda step: abs(step.tokens - tokens))


def measure(base: LoadedBase, shape: Shape, sizes: Sequence[int], max_length: int, seed: int) -> dict[str, object]:
    steps: list[Step] = []
    passes = []
    for size in sizes:
        session = synthetic_session(tokens=size, seed=seed)
        windows = sorted(
            prepare_windows(session, base.tokenizer, max_length=max_length).windows, key=lambda one: len(one.input_ids)
        )
        for window in (windows[len(windows) // 2], windows[-1]):
            tokens = len(window.input_ids)
            if not steps:
                timed(base, shape, Window(window.input_ids[:WARMING_UP], (True,) * min(tokens, WARMING_UP)))
            if not steps or abs(nearest(steps, tokens).tokens / tokens - 1) > ALIKE:
                steps.append(timed(base, shape, window))
                print(f"{tokens} tokens: {steps[-1].seconds:.1f} s", file=sys.stderr, flush=True)
        passes.append(
            (size, report(session, base.tokenizer, max_length=max_length), [len(w.input_ids) for w in windows])
        )
    cost = fitted(steps)
    sessions = []
    for size, counts, lengths in passes:
        step, seconds = nearest(steps, counts["longest"]), sum(cost.seconds(length) for length in lengths)
        sessions.append(
            counts
            | {"size": size, "pass_seconds": seconds, "ms_per_token": 1000 * seconds / counts["tokens"]}
            | {name: asdict(step)[name] for name in ("checkpointing", "peak_mb", "predicted_mb")}
        )
    return {"max_length": max_length, "steps": [asdict(step) for step in steps], **asdict(cost), "sessions": sessions}


def main(argv: Sequence[str]) -> int:
    """Exit code 0; 2 where the memory of the base model cannot be predicted."""
    parser = argparse.ArgumentParser(prog="python -m imprint_bench.length", description=__doc__)
    parser.add_argument("--base", required=True, help="folder or hub id of the base model")
    parser.add_argument("--tokens", type=int, nargs="+", default=[1000, 4000, 16000, 60000, 200000])
    parser.add_argument("--max-length", type=int, help="tokens of a window; default: what fits")
    parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    parser.add_argument("--threads", type=int, help="default: one for each physical core")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    import_libraries()
    device = pick_device(options.device)
    fix_numerics(device, options.threads)
    base = load_base(options.base, device=str(device))
    config = read_json(base.folder / "config.json")
    shape = shape_of(config)
    if shape is None:
        print("config.json does not name the sizes that the memory model needs.", file=sys.stderr)
        return 2
    kind: Device = "cuda" if device.type == "cuda" else "cpu"
    max_length = options.max_length or longest_window(config, available_mb(device.type), rank=RANK, device=kind)
    print(json.dumps(measure(base, shape, options.tokens, max_length, options.seed)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
