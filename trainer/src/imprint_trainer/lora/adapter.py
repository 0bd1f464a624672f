"""An adapter in memory: where it sits, its tensors by PEFT's keys, and how the resident base takes it on and off."""

import difflib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from imprint_trainer.errors import AdapterInvalid, AdapterNotFinite, AdapterUnchanged, TargetModulesNotFound
from imprint_trainer.models.causal_lm import CausalLM, LoadedBase, PeftCausalLM
from imprint_trainer.models.supported import linear_layers


@dataclass(frozen=True)
class Factors:
    """Delta W = multiplier * B^T A, for each leading index. PEFT's lora_B is B^T."""

    A: Tensor  # [..., r, d_in]
    B: Tensor  # [..., r, d_out]


def shortest_names(model: CausalLM, layers: Sequence[str]) -> set[str]:
    """Of each layer the shortest suffix of its name that means none of the model's other modules."""
    own = set(layers)
    others = {ending for name, _ in model.named_modules() if name not in own for ending in endings(name)}
    return {next(ending for ending in endings(name) if ending not in others) for name in layers}


def endings(name: str) -> list[str]:
    """`c`, `b.c`, `a.b.c`."""
    parts = name.split(".")
    return [".".join(parts[start:]) for start in range(len(parts) - 1, -1, -1)]


def resolve_targets(model: CausalLM, requested: Sequence[str] | None) -> list[str]:
    """Sorted names as adapter_config.json holds them: `q_proj` or a dotted suffix. Raises TargetModulesNotFound for any
    without a match."""
    layers = linear_layers(model)
    if requested is None:
        return sorted(shortest_names(model, layers))
    for target in requested:
        if not any(matches(name, target) for name in layers):
            known = sorted({name.rsplit(".", 1)[-1] for name in layers})
            near = difflib.get_close_matches(target, known, n=3, cutoff=0.4) or known
            raise TargetModulesNotFound(
                f"target_modules: {target} matches no linear layer; near are {', '.join(near[:8])}"
            )
    return sorted(set(requested))


def matches(name: str, target: str) -> bool:
    """PEFT's rule for a list of targets: the whole name, or a suffix after a dot."""
    return name == target or name.endswith(f".{target}")


A, B = ".lora_A.weight", ".lora_B.weight"
BLOCK = re.compile(r"\.model\.layers\.(\d+)\.")


@dataclass(frozen=True)
class Payload:
    """`tensors`: `base_model.model.<module>.lora_A.weight` [r, in] and `.lora_B.weight` [out, r], fp32 on CPU."""

    tensors: Mapping[str, Tensor]
    config: Mapping[str, Any]

    @property
    def rank(self) -> int:
        return int(self.config["r"])

    @property
    def alpha(self) -> float:
        return float(self.config["lora_alpha"])

    @property
    def first_block(self) -> int:
        """The lowest block that it changes; 0 also where its keys do not say."""
        blocks = [BLOCK.search(key) for key in self.tensors]
        return min((int(block[1]) if block else 0 for block in blocks), default=0)


def adapter_config(*, rank: int, alpha: float, targets: Sequence[str], base_model_name: str) -> dict[str, Any]:
    """adapter_config.json: what PEFT, vLLM, LoRAX and llama.cpp know; lists sorted, whole numbers integers."""
    return {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base_model_name,
        "r": rank,
        "lora_alpha": int(alpha) if float(alpha).is_integer() else alpha,
        "lora_dropout": 0.0,
        "bias": "none",
        "use_rslora": False,
        "use_dora": False,
        "fan_in_fan_out": False,
        "modules_to_save": None,
        "inference_mode": True,
        "target_modules": sorted(targets),
    }


def trained_tensors(model: CausalLM) -> dict[str, Tensor]:
    """The adapter of a PEFT model, under the keys that PEFT saves it with."""
    from peft import get_peft_model_state_dict

    state = get_peft_model_state_dict(model, save_embedding_layers=False)
    return {key: state[key].detach().to("cpu", torch.float32).contiguous().clone() for key in sorted(state)}


def update_norm(payload: Payload) -> float:
    """Square root of the summed squared Frobenius norms of (alpha / r) B A, in fp64.

    Uses |BA|^2 = <B^T B, A A^T>, so that no [out, in] matrix is made.
    Raises AdapterInvalid, AdapterNotFinite, AdapterUnchanged.
    """
    total = 0.0
    for key, tensor in payload.tensors.items():
        if not torch.isfinite(tensor).all():
            raise AdapterNotFinite(f"{key} holds NaN or infinity")
    for key in (key for key in payload.tensors if key.endswith(A)):
        a = payload.tensors[key].double()  # [r, in]
        b = payload.tensors.get(key.removesuffix(A) + B)  # [out, r]
        if b is None or b.ndim != 2 or a.shape[0] != payload.rank or b.shape[1] != payload.rank:
            raise AdapterInvalid(f"{key} and its lora_B make no update of rank {payload.rank}")
        total += float(((b.double().T @ b.double()) * (a @ a.T)).sum())
    norm = payload.alpha / payload.rank * math.sqrt(max(total, 0.0))
    if norm == 0.0:
        raise AdapterUnchanged("every update of the adapter is zero")
    return norm


def lora_config(*, rank: int, alpha: float, targets: Sequence[str]) -> Any:
    """PEFT's configuration of an adapter that is trained."""
    from peft import LoraConfig

    config = adapter_config(rank=rank, alpha=alpha, targets=targets, base_model_name="")
    return LoraConfig(**config | {"inference_mode": False, "base_model_name_or_path": None})


@contextmanager
def fresh_adapter(
    base: LoadedBase, *, rank: int, alpha: float, targets: Sequence[str], seed: int
) -> Iterator[PeftCausalLM]:
    """A PEFT model with a new, trainable adapter; B is zero, A depends on nothing but `seed`."""
    from peft import get_peft_model

    from imprint_trainer.lora.kernels import fused

    torch.manual_seed(seed)
    model = get_peft_model(base.model, lora_config(rank=rank, alpha=alpha, targets=targets))
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.float()
    try:
        with fused(model):
            yield model
    finally:
        detach(base, model)


def detach(base: LoadedBase, model: PeftCausalLM) -> None:
    """Never merges: the base's tensors are the same objects afterwards."""
    model.unload()
    base.model.requires_grad_(False)
    base.model.eval()
    if hasattr(base.model, "peft_config"):
        del base.model.peft_config
