"""What a training would see, without a model."""

from typing import Any

from imprint_trainer.data.preview import preview
from imprint_trainer.data.sessions import prepare_sessions
from imprint_trainer.jobs.memory_plan import longest, planned_memory
from imprint_trainer.jobs.window_limit import window_limit
from imprint_trainer.lora.config import LoraTraining
from imprint_trainer.lora.schedule import plan_steps
from imprint_trainer.memory_model import Device
from imprint_trainer.protocol import PreviewSpec


def preview_sessions(spec: PreviewSpec, tokenizer: Any, *, device: Device, window: int | None = None) -> dict[str, Any]:
    """The contracts' `Preview`, from the very code that trains. `window`: as `preview` takes it."""
    prepared = prepare_sessions(spec, tokenizer, limit=window_limit(spec, device))
    steps = plan_steps(prepared.windows, LoraTraining(seed=0, profile=spec.profile, epochs=spec.epochs))
    memory = planned_memory(spec, longest(prepared.windows), device=device).memory
    return preview(prepared, tokenizer, steps=steps, memory=memory, window=window)
