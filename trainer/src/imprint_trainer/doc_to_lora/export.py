"""A merged LoRA as PEFT reads it: tensors and the numbers of its configuration (section 8.1)."""

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from imprint_trainer.doc_to_lora.config import HypernetworkConfig
from imprint_trainer.doc_to_lora.merge import pad_rank
from imprint_trainer.doc_to_lora.targets import module_path
from imprint_trainer.lora.factors import Factors

AlphaForm = Literal["folded", "float"]


@dataclass(frozen=True)
class PeftAdapter:
    """Tensors by PEFT key, and what `adapter_config.json` says of them."""

    tensors: dict[str, Tensor]
    rank: int
    lora_alpha: float
    target_modules: tuple[str, ...]
    layers_to_transform: tuple[int, ...] | None  # None: every layer of the base model

    def config(self, base_model_name: str) -> dict[str, Any]:
        """`adapter_config.json`, for PEFT, vLLM and llama.cpp."""
        folded = self.lora_alpha == self.rank  # consumers that want an integer get one
        return {
            "peft_type": "LORA",
            "task_type": "CAUSAL_LM",
            "base_model_name_or_path": base_model_name,
            "r": self.rank,
            "lora_alpha": self.rank if folded else self.lora_alpha,
            "lora_dropout": 0.0,
            "bias": "none",
            "use_rslora": False,
            "use_dora": False,
            "fan_in_fan_out": False,
            "modules_to_save": None,
            "inference_mode": True,
            "target_modules": list(self.target_modules),
            "layers_to_transform": None if self.layers_to_transform is None else list(self.layers_to_transform),
            "layers_pattern": None if self.layers_to_transform is None else "layers",
        }


def to_peft(
    factors: dict[str, Factors],
    config: HypernetworkConfig,
    *,
    base_layers: int,
    scaling: float = 1.0,
    form: AlphaForm = "folded",
    pad_to: int | None = None,
    dtype: torch.dtype = torch.float32,
) -> PeftAdapter:
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
    everywhere = config.layer_indices == tuple(range(base_layers))
    return PeftAdapter(
        tensors=tensors,
        rank=rank,
        lora_alpha=float(rank) if form == "folded" else multiplier * rank,
        target_modules=config.target_modules,
        layers_to_transform=None if everywhere else config.layer_indices,
    )
