"""What a graphics card must show, one function a check: docs/training.md. On a CPU the same code is rehearsed."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

import torch

from imprint_bench.windows import made_up_windows
from imprint_trainer.data.windows import Window
from imprint_trainer.errors import TrainerError
from imprint_trainer.lora.adapter import fresh_adapter, resolve_targets
from imprint_trainer.lora.loss import mean_loss
from imprint_trainer.lora.steps import LoraTraining, plan_steps
from imprint_trainer.lora.train import checkpointed, train
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.device import Device
from imprint_trainer.models.load import load_base
from imprint_trainer.models.locate import read_json
from imprint_trainer.models.memory import PeakMemory
from imprint_trainer.models.memory_model import Setting, predict, shape_of

RANK = 16
CLOSE = 0.01  # of the loss: what bf16 may change
QUANTISED = 0.1  # of the loss: what four bits may change
MODEL_ERROR = 0.15  # of the peak: what the memory model may err
TIMES_TRL = 2.0  # the goal on a card


@dataclass(frozen=True)
class Check:
    name: str
    passed: bool | None  # None: shown, not judged
    sentence: str


@dataclass(frozen=True)
class Bench:
    """What is trained, and on what."""

    base_model: str
    device: torch.device
    length: int
    steps: int

    def base(self, dtype: torch.dtype = torch.bfloat16, *, four_bit: bool = True) -> LoadedBase:
        return load_base(
            self.base_model,
            quantization="nf4" if four_bit else "none",
            device=str(self.device),
            dtype=dtype,
            dequantised=False,
        )

    def windows(self, base: LoadedBase) -> list[Window]:
        return made_up_windows(len(base.tokenizer), lengths=[self.length, self.length // 2], seed=0)


@dataclass(frozen=True)
class Outcome:
    losses: tuple[float, ...]
    factors: tuple[torch.Tensor, ...]
    peak_mb: float


def trained(bench: Bench, base: LoadedBase, *, checkpointing: bool = False) -> Outcome:
    training = LoraTraining(seed=1, epochs=bench.steps, rank=RANK, learning_rate=3e-4, max_length=bench.length)
    windows, targets = bench.windows(base), resolve_targets(base.model, None)
    memory = PeakMemory(bench.device)
    with (
        fresh_adapter(base, rank=RANK, alpha=2.0 * RANK, targets=targets, seed=1) as model,
        checkpointed(model, checkpointing),
    ):
        result = train(model, windows, training, plan_steps(windows, training), device=bench.device, memory=memory)
        factors = tuple(p.detach().cpu().clone() for p in model.parameters() if p.requires_grad)
    return Outcome(result.losses, factors, memory.mb())


def furthest(found: Sequence[float], expected: Sequence[float]) -> float:
    """The largest difference, as a share of what was expected."""
    return max(abs(one / other - 1) for one, other in zip(found, expected, strict=True))


def checks(bench: Bench) -> Iterator[Check]:
    """One after the other, each as soon as it is known."""
    yield card(bench.device)
    base = bench.base()
    yield nf4(bench, base)
    first = trained(bench, base)
    yield checkpointing(bench, base, first)
    yield determinism(bench, base, first)
    yield memory_model(bench, base, first)
    del base
    yield bf16(bench, first)
    yield throughput(bench)


def card(device: torch.device) -> Check:
    if device.type != "cuda":
        return Check("card", None, "a rehearsal on the CPU: what is judged on a card alone is shown")
    properties = torch.cuda.get_device_properties(device)
    native = torch.cuda.is_bf16_supported(including_emulation=False)
    flash = torch.backends.cuda.is_flash_attention_available()
    return Check(
        "card",
        native,
        f"{properties.name}, {properties.total_memory / 1e9:.0f} GB, bf16 {'native' if native else 'emulated'}, "
        f"torch {'has' if flash else 'lacks'} flash attention",
    )


def nf4(bench: Bench, base: LoadedBase) -> Check:
    """Reading changes nothing (the library repacks weights in eval mode), and four bits change the loss little."""
    from bitsandbytes.nn import Linear4bit

    windows, layers = bench.windows(base), sum(isinstance(one, Linear4bit) for one in base.model.modules())
    before, after = (mean_loss(base.model, windows, bench.device) for _ in range(2))
    plain = bench.base(four_bit=False)
    change = furthest([before], [mean_loss(plain.model, windows, bench.device)])
    return Check(
        "nf4",
        layers > 0 and before == after and change <= QUANTISED,
        f"{layers} layers in four bits, loss {before:.3f}, {change:.1%} from the loss without, "
        f"{'the same' if before == after else 'another'} when read again",
    )


def checkpointing(bench: Bench, base: LoadedBase, without: Outcome) -> Check:
    found = trained(bench, base, checkpointing=True)
    difference = furthest(found.losses, without.losses)
    less = found.peak_mb < without.peak_mb or bench.device.type == "cpu"  # there of the whole process
    return Check(
        "checkpointing",
        difference <= CLOSE and less,
        f"losses differ by {difference:.2%}, peak {found.peak_mb:.0f} instead of {without.peak_mb:.0f} MB",
    )


def determinism(bench: Bench, base: LoadedBase, first: Outcome) -> Check:
    again = trained(bench, base)
    same = all(torch.equal(one, other) for one, other in zip(again.factors, first.factors, strict=True))
    difference = furthest(again.losses, first.losses)
    return Check(
        "determinism",
        same if bench.device.type == "cpu" else difference <= CLOSE,  # on CUDA kernels may add in any order
        f"the same request gave {'the same bytes' if same else f'other bytes, losses within {difference:.2%}'}",
    )


def memory_model(bench: Bench, base: LoadedBase, measured: Outcome) -> Check:
    shape = shape_of(read_json(base.folder / "config.json"))
    if shape is None:
        return Check("memory model", None, "config.json does not name the sizes that it needs")
    device: Device = "cuda" if bench.device.type == "cuda" else "cpu"
    predicted = predict(shape, Setting(bench.length, RANK, dequantised=False, device=device)).total
    error = predicted / measured.peak_mb - 1
    said = (
        f"{predicted:.0f} MB predicted, {measured.peak_mb:.0f} measured ({error:+.0%}, the goal is {MODEL_ERROR:.0%})"
    )
    return Check("memory model", None, said)


def bf16(bench: Bench, first: Outcome) -> Check:
    exact = trained(bench, bench.base(torch.float32))
    difference = furthest([fmean(first.losses)], [fmean(exact.losses)])
    formats = {factor.dtype for factor in first.factors}
    return Check(
        "bf16",
        difference <= CLOSE and formats == {torch.float32},
        f"mean loss within {difference:.2%} of that in fp32, the adapter kept in "
        f"{', '.join(str(one).removeprefix('torch.') for one in formats)}",
    )


def throughput(bench: Bench) -> Check:
    speeds = {name: speed(bench, name) for name in ("imprint", "trl")}
    said = [f"{name} {'not installed' if one is None else f'{one:.0f} tokens/s'}" for name, one in speeds.items()]
    return Check("throughput", None, f"{', '.join(said)}; the goal is {TIMES_TRL:.0f} times trl")


def speed(bench: Bench, name: str) -> float | None:
    """Tokens a second after the first step, in a process of its own; None where the trainer is not installed."""
    words = ["--by", name, "--base", bench.base_model, "--device", bench.device.type, "--windows", "1"]
    lengths = ["--max-length", str(bench.length), "--steps", str(bench.steps)]
    result = subprocess.run(
        [sys.executable, "-m", "imprint_bench.training", *words, *lengths],
        input="\n" * bench.steps,
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode == 2:
        return None
    if result.returncode != 0:
        raise TrainerError(f"{name} ended with {(result.stderr.strip().splitlines() or ['nothing'])[-1][:200]}")
    head, *steps, _ = [json.loads(line) for line in result.stdout.splitlines()]
    return float(head["tokens"] * (len(steps) - 1) / sum(step["seconds"] for step in steps[1:]))
