"""A merged LoRA as PEFT reads it (section 8.1)."""

from typing import Literal

import torch

from imprint_trainer.doc_to_lora.config import AdapterPlace
from imprint_trainer.doc_to_lora.merge import pad_rank
from imprint_trainer.doc_to_lora.targets import module_path
from imprint_trainer.lora.adapter import Factors, Payload, adapter_config

AlphaForm = Literal["folded", "float"]


def to_peft(
    factors: dict[str, Factors],
    config: AdapterPlace,
    *,
    base_layers: int,
    scaling: float = 1.0,
    form: AlphaForm = "folded",
    pad_to: int | None = None,
    dtype: torch.dtype = torch.float32,
) -> Payload:
    """factors: for each module A [L, R, d_in], B [L, R, d_out], of a base model with `base_layers` layers.

    "folded" multiplies lora_B by the multiplier and sets lora_alpha = R; "float" sets lora_alpha = multiplier * R.
    The multiplier is the hypernetwork's lora_alpha (section 15.1) times `scaling`. `pad_to` appends zero ranks, for
    servers with fixed rank sizes.
    """
    multiplier = config.lora_alpha * scaling
    if pad_to is not None:
        factors = pad_rank(factors, pad_to)
    rank = next(iter(factors.values())).A.shape[-2]
    tensors = {}
    for module, pair in factors.items():
        for index, layer in enumerate(config.layer_indices):
            key = f"base_model.model.{module_path(layer, module)}"
            up = pair.B[index].mT * (multiplier if form == "folded" else 1.0)  # [d_out, R] (section 15.12)
            tensors[f"{key}.lora_A.weight"] = pair.A[index].detach().to("cpu", dtype).contiguous()
            tensors[f"{key}.lora_B.weight"] = up.detach().to("cpu", dtype).contiguous()
    settings = adapter_config(
        rank=rank,
        alpha=rank if form == "folded" else multiplier * rank,
        targets=config.target_modules,
        base_model_name=config.base_model_name_or_path,
    )
    everywhere = config.layer_indices == tuple(range(base_layers))
    layers = {
        "layers_to_transform": None if everywhere else list(config.layer_indices),
        "layers_pattern": None if everywhere else "layers",
    }
    return Payload(tensors, settings | layers)
