"""The field's own trainer, on the same data, seed and settings, sees the same losses."""

from pathlib import Path

import pytest
import torch

from imprint_trainer.data.windows import Window
from imprint_trainer.lora.adapter import lora_config, resolve_targets
from imprint_trainer.models.causal_lm import LoadedBase
from training import settings, train_tiny


def test_per_step_losses_equal_those_of_trl_and_peft(base: LoadedBase, windows: list[Window], tmp_path: Path) -> None:
    from datasets import Dataset
    from peft import get_peft_model
    from trl import SFTConfig, SFTTrainer

    training = settings(epochs=6, accumulation=3, warmup_fraction=0.0)
    trained, _ = train_tiny(base, windows, training)
    rows = [
        {
            "input_ids": list(window.input_ids),
            "labels": [t if s else -100 for t, s in zip(window.input_ids, window.supervised, strict=True)],
        }
        for window in windows
    ]
    torch.manual_seed(training.seed)
    model = get_peft_model(base.model, lora_config(rank=4, alpha=8.0, targets=resolve_targets(base.model, None)))
    trainer = SFTTrainer(
        model=model,
        processing_class=base.tokenizer,
        train_dataset=Dataset.from_list(rows),
        args=SFTConfig(
            output_dir=str(tmp_path),
            num_train_epochs=6,
            per_device_train_batch_size=1,
            gradient_accumulation_steps=3,
            learning_rate=training.learning_rate,
            lr_scheduler_type="cosine",
            warmup_steps=0,
            weight_decay=0.0,
            max_grad_norm=1.0,
            logging_steps=1,
            save_strategy="no",
            report_to=[],
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            disable_tqdm=True,
            seed=training.seed,
        ),
    )
    trainer.train()
    theirs = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    model.unload()
    assert len(theirs) == 6
    assert trained.losses == pytest.approx(theirs, abs=1e-4)
