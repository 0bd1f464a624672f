"""Trains on windows of random tokens in a process of its own; prints what was predicted and what was held, in MB."""

import argparse
import json

import torch

from imprint_bench.windows import made_up_windows
from imprint_trainer.jobs.worker import import_libraries
from imprint_trainer.lora.adapter import fresh_adapter, resolve_targets
from imprint_trainer.lora.steps import LoraTraining, plan_steps
from imprint_trainer.lora.train import checkpointed, train
from imprint_trainer.models.device import fix_numerics
from imprint_trainer.models.load import load_base
from imprint_trainer.models.locate import read_json
from imprint_trainer.models.memory import PeakMemory, tensors_given_back
from imprint_trainer.models.memory_model import Setting, predict, shape_of

CPU = torch.device("cpu")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--length", type=int, required=True)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--quantization", default="nf4")
    parser.add_argument("--dequantised", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--checkpointing", action="store_true")
    parser.add_argument("--steps", type=int, default=2)
    return parser.parse_args()


def main() -> None:
    options = parsed()
    import_libraries()
    fix_numerics(CPU)
    fixed = PeakMemory(CPU).mb()
    base = load_base(options.model, quantization=options.quantization, device="cpu", dequantised=options.dequantised)
    shape = shape_of(read_json(base.folder / "config.json"))
    assert shape is not None
    setting = Setting(
        options.length,
        options.rank,
        quantization=options.quantization,
        dequantised=base.dequantised,
        checkpointing=options.checkpointing,
    )
    memory = PeakMemory(CPU)  # of the training: what loading took for a moment is not in it
    (window,) = made_up_windows(base.model.config.vocab_size, lengths=[options.length], seed=1)
    training = LoraTraining(seed=1, epochs=options.steps, rank=options.rank, max_length=options.length)
    targets = resolve_targets(base.model, None)
    with (
        fresh_adapter(base, rank=options.rank, alpha=32.0, targets=targets, seed=1) as model,
        checkpointed(model, options.checkpointing),
        tensors_given_back(setting.low_memory),
    ):
        train(model, [window], training, plan_steps([window], training), device=CPU, memory=memory)
    predicted = predict(shape, setting)
    print(
        json.dumps(
            {
                "length": options.length,
                "rank": options.rank,
                "quantization": options.quantization,
                "dequantised": base.dequantised,
                "checkpointing": options.checkpointing,
                "steps": options.steps,
                "imports_mb": round(fixed),
                "predicted_mb": round(predicted.total),
                "measured_mb": round(memory.mb()),
            }
        )
    )


if __name__ == "__main__":
    main()
