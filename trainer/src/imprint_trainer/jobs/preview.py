"""What a training would see, without a model."""

from typing import Any

from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.data.preview import preview
from imprint_trainer.data.session import load_session
from imprint_trainer.lora.config import LoraTraining
from imprint_trainer.lora.plan import plan_steps
from imprint_trainer.protocol import PreviewSpec


def preview_session(spec: PreviewSpec, tokenizer: Any) -> dict[str, Any]:
    """The contracts' `Preview`, from the very code that trains; steps are those of an open-ended training."""
    prepared = prepare_windows(
        load_session(spec.session_path),
        tokenizer,
        max_length=spec.max_length,
        include_unsuccessful=spec.include_unsuccessful,
    )
    steps = plan_steps(prepared.windows, LoraTraining(seed=0, max_length=spec.max_length))
    return preview(prepared, tokenizer, max_steps=steps.maximum)
