"""One training of the same windows by this trainer, by TRL, or by a plain loop over transformers and PEFT.

Rank 16 on every linear layer, AdamW, cosine to zero without warm-up, all windows in each step: the order of windows
does not matter then, and the losses of all trainers are to be the same.
"""

import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import torch

from imprint_trainer.data.windows import Window
from imprint_trainer.lora.adapter import fresh_adapter, lora_config, resolve_targets
from imprint_trainer.lora.steps import LoraTraining, plan_steps
from imprint_trainer.lora.train import train
from imprint_trainer.models.causal_lm import LoadedBase, Quantization
from imprint_trainer.models.device import compute_dtype
from imprint_trainer.models.load import load_base
from imprint_trainer.models.locate import load_tokenizer, locate_base
from imprint_trainer.models.memory import PeakMemory
from imprint_trainer.models.quantize import nf4_config

TrainerName = Literal["imprint", "trl", "plain"]
SEED, RANK, ALPHA, RATE = 11, 16, 32.0, 3e-4

Begin = Callable[[], None]  # called before each step
End = Callable[[float, float], None]  # called after it, with the loss in nats per token and the seconds
Run = Callable[[Sequence[Window], int, Begin, End], None]  # windows, steps


def loaded(name: TrainerName, base_model: str, quantization: Quantization, device: torch.device) -> Run:
    """The trainer with its base model in memory."""
    if name == "imprint":
        return own(load_base(base_model, quantization=quantization, device=str(device)))
    stock = _stock(base_model, quantization, device)
    return partial(_plain if name == "plain" else _trl, stock, device)


def own(base: LoadedBase) -> Run:
    """This trainer."""

    def run(windows: Sequence[Window], steps: int, begin: Begin, end: End) -> None:
        training = LoraTraining(
            seed=SEED,
            epochs=steps,
            rank=RANK,
            alpha=ALPHA,
            learning_rate=RATE,
            warmup_fraction=0.0,
            accumulation=len(windows),
        )
        started = 0.0

        def on_step(progress: dict[str, Any]) -> None:
            nonlocal started
            end(progress["loss"], time.perf_counter() - started)
            if progress["step"] < steps:
                begin()
            started = time.perf_counter()

        targets = resolve_targets(base.model, None)
        with fresh_adapter(base, rank=RANK, alpha=ALPHA, targets=targets, seed=SEED) as model:
            begin()
            started = time.perf_counter()
            train(
                model,
                windows,
                training,
                plan_steps(windows, training),
                device=base.device,
                memory=PeakMemory(base.device),
                on_step=on_step,
            )

    return run


def _stock(base_model: str, quantization: Quantization, device: torch.device) -> Any:
    """A PEFT model and its tokenizer, as the libraries' own documentation loads them."""
    from peft import get_peft_model
    from transformers import AutoModelForCausalLM

    folder, dtype = locate_base(base_model).folder, compute_dtype(device)
    model = AutoModelForCausalLM.from_pretrained(
        folder,
        dtype=dtype,
        device_map={"": str(device)},
        use_safetensors=True,
        local_files_only=True,
        quantization_config=nf4_config(dtype) if quantization == "nf4" else None,
    )
    model.requires_grad_(False)
    model.config.use_cache = False
    targets = resolve_targets(model, None)
    torch.manual_seed(SEED)
    return get_peft_model(model, lora_config(rank=RANK, alpha=ALPHA, targets=targets)), load_tokenizer(folder)


def _trl(stock: Any, device: torch.device, windows: Sequence[Window], steps: int, begin: Begin, end: End) -> None:
    from datasets import Dataset
    from transformers import TrainerCallback
    from trl import SFTConfig, SFTTrainer

    class Clock(TrainerCallback):  # type: ignore[misc]
        started = seconds = 0.0

        def on_step_begin(self, *_: Any, **__: Any) -> None:
            begin()
            self.started = time.perf_counter()

        def on_step_end(self, *_: Any, **__: Any) -> None:
            self.seconds = time.perf_counter() - self.started

        def on_log(self, *_: Any, logs: dict[str, float], **__: Any) -> None:
            if "loss" in logs:
                end(logs["loss"], self.seconds)

    model, tokenizer = stock
    with tempfile.TemporaryDirectory() as folder:
        SFTTrainer(
            model=model,
            processing_class=tokenizer,
            train_dataset=Dataset.from_list([_row(window) for window in windows]),
            callbacks=[Clock()],
            args=SFTConfig(
                output_dir=folder,
                num_train_epochs=steps,
                per_device_train_batch_size=1,
                gradient_accumulation_steps=len(windows),
                learning_rate=RATE,
                lr_scheduler_type="cosine",
                warmup_steps=0,
                weight_decay=0.0,
                max_grad_norm=1.0,
                max_length=None,
                logging_steps=1,
                save_strategy="no",
                report_to=[],
                use_cpu=device.type == "cpu",
                bf16=compute_dtype(device) == torch.bfloat16,
                gradient_checkpointing=False,
                disable_tqdm=True,
                seed=SEED,
            ),
        ).train()


def _row(window: Window) -> dict[str, list[int]]:
    labels = [token if taught else -100 for token, taught in zip(window.input_ids, window.supervised, strict=True)]
    return {"input_ids": list(window.input_ids), "labels": labels}


def _plain(stock: Any, device: torch.device, windows: Sequence[Window], steps: int, begin: Begin, end: End) -> None:
    from transformers import get_cosine_schedule_with_warmup

    model, _ = stock
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=RATE, weight_decay=0.0)
    schedule = get_cosine_schedule_with_warmup(optimizer, 0, steps)
    rows = [{name: torch.tensor([ids], device=device) for name, ids in _row(window).items()} for window in windows]
    supervised = sum(int((row["labels"][:, 1:] != -100).sum()) for row in rows)
    mixed = torch.autocast(device.type, torch.bfloat16, enabled=compute_dtype(device) == torch.bfloat16)
    model.train()
    for _ in range(steps):
        begin()
        started, total = time.perf_counter(), 0.0
        for row in rows:
            with mixed:
                loss = model(**row, num_items_in_batch=supervised).loss
            loss.backward()
            total += float(loss.detach())
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
        end(total, time.perf_counter() - started)
