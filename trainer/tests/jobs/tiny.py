"""The part of a LoRA job that is no selection, of the least size."""

from pathlib import Path
from typing import Any


def tiny_job(folder: Path) -> dict[str, Any]:
    return {
        "adapter_id": "a",
        "output_dir": str(folder / "out"),
        "base_model_name": "tiny",
        "task_type": "code-gen",
        "seed": 0,
        "rank": 2,
        "alpha": 4,
        "learning_rate": 0.001,
        "target_modules": None,
        "quantization": "none",
        "checkpoint": {"dir": str(folder), "seconds": 3600, "start": "fresh"},
    }
