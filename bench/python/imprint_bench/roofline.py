"""`python -m imprint_bench.roofline BASE`: how near a training and a reading come to what this CPU can do (Williams,
Waterman and Patterson, 2009).

Prints JSON: `gflops` of large products in the format of the base's weights and `gb_s` of memory that is read; of each
phase what a token of a window takes in GFLOP and in MB of weights, its `gflops`, and their share of the machine's.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from imprint_bench.trainers import own
from imprint_bench.windows import made_up_windows
from imprint_trainer.lora.loss import mean_loss
from imprint_trainer.models.device import fix_numerics
from imprint_trainer.models.linear import product
from imprint_trainer.models.load import load_base

CPU = torch.device("cpu")
LENGTH, SIDE, NUMBERS, RUNS = 1024, 4096, 2**28, 4  # tokens of a window; rows of a product; what is read; of each


class Counted(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """What products take, torch's and oneDNN's: torch's own counter cannot follow the gradient of a single layer."""

    flop = 0

    def __torch_dispatch__(self, function: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = function(*args, **(kwargs or {}))
        if function.overloadpacket is torch.ops.mkldnn._linear_pointwise:
            self.flop += 2 * args[0].numel() * len(args[1])
        elif (formula := flop_registry.get(function.overloadpacket)) is not None:
            self.flop += formula(*args, **(kwargs or {}), out_val=out)
        return out


def fastest(work: Callable[[], object]) -> float:
    """Seconds; the first run warms up."""
    seconds = []
    for _ in range(RUNS):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds[1:])


def main(base_model: str) -> None:
    fix_numerics(CPU)
    base = load_base(base_model, device="cpu", dequantised=True)
    windows = made_up_windows(len(base.tokenizer), lengths=[LENGTH], seed=0)
    run = own(base)
    phases: dict[str, tuple[int, Callable[[], object]]] = {
        "training": (2, lambda: run(windows, 1, lambda: None, lambda *_: None)),
        "reading": (1, lambda: mean_loss(base.model, windows, CPU)),
    }
    weight = next(one.weight for one in base.model.modules() if isinstance(one, torch.nn.Linear))
    square, numbers = torch.rand(SIDE, SIDE).to(weight.dtype), torch.rand(NUMBERS)
    peak = 2e-9 * SIDE**3 / fastest(lambda: product(square, square))
    read = 1e-9 * numbers.nbytes / fastest(numbers.sum)
    found: dict[str, Any] = {"dtype": str(weight.dtype), "gflops": peak, "gb_s": read}
    weights_mb = 1e-6 * sum(one.nbytes for one in base.model.parameters())
    for name, (passes, work) in phases.items():
        with Counted() as counted:  # type: ignore[no-untyped-call]
            work()
        rate = 1e-9 * counted.flop / fastest(work)
        each = {"gflop": 1e-9 * counted.flop / LENGTH, "weights_mb": passes * weights_mb / LENGTH}
        found[name] = {**each, "gflops": rate, "share": rate / peak}
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
