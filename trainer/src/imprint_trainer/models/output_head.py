"""Logits as a model itself makes them of its decoder's output: families scale them, bound them, or both."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from imprint_trainer.errors import BaseModelUnsupported
from imprint_trainer.models.sections import decoder_of, first_block_only

# transformers' modeling files: what a family multiplies its logits by, by the start of its config's model_type.
SCALES: dict[str, Callable[[Any], float]] = {
    "granite": lambda config: 1 / config.logits_scaling,
    "hyperclovax": lambda config: config.logits_scaling,
    "cohere": lambda config: config.logit_scale,
    "falcon_h1": lambda config: config.lm_head_multiplier,
}
CHECKED_TOKENS = 8


@dataclass(frozen=True)
class OutputHead:
    """softcap x tanh(scale x linear(hidden) / softcap), in fp32."""

    linear: Any
    scale: float = 1.0
    softcap: float | None = None  # Gemma 2, section 2

    def logits(self, hidden: Tensor) -> Tensor:
        """[..., d] -> [..., vocabulary]."""
        logits: Tensor = self.linear(hidden).float()
        if self.scale != 1.0:
            logits = logits * self.scale
        return logits if self.softcap is None else torch.tanh(logits / self.softcap) * self.softcap


def output_head(model: Any) -> OutputHead:
    """Of a plain or PEFT-wrapped causal language model."""
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    config = inner.config.get_text_config()
    scales = [scale(config) for family, scale in SCALES.items() if config.model_type.startswith(family)]
    softcap = getattr(config, "final_logit_softcapping", None)
    return OutputHead(
        inner.get_output_embeddings(), float(scales[0]) if scales else 1.0, None if softcap is None else float(softcap)
    )


@torch.no_grad()
def check_output_head(model: Any, name: str) -> None:
    """Raises BaseModelUnsupported where the logits that losses are made of are not the model's own.

    Of one block, where the others can be left out: what comes after them is what is checked.
    """
    vocabulary = model.get_input_embeddings().num_embeddings
    ids = torch.arange(CHECKED_TOKENS, device=model.device).unsqueeze(0) * (vocabulary // CHECKED_TOKENS)
    with first_block_only(model):
        own = model(input_ids=ids, use_cache=False).logits.float()
        hidden = getattr(decoder_of(model)(input_ids=ids, use_cache=False), "last_hidden_state", None)
    if hidden is None:
        raise BaseModelUnsupported(f"{name} is a {type(model).__name__}, whose hidden states cannot be read.")
    found = output_head(model).logits(hidden)
    allowed = max(1e-3, 4 * torch.finfo(model.dtype).eps)  # of the largest: half formats round what they add up
    difference = float((found - own).abs().max() / own.abs().max())
    if not difference <= allowed:
        raise BaseModelUnsupported(
            f"The logits that the trainer computes for {name} differ from the model's own by {difference:.1%}: "
            f"what {type(model).__name__} does after its output layer is not known here."
        )
