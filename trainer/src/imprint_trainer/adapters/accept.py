"""Whether vLLM and llama.cpp would take an adapter, by the rules of their loaders."""

import re
from dataclasses import dataclass

from imprint_trainer.adapters.payload import Payload

VLLM_MAX_RANK = 512  # largest --max-lora-rank
VLLM_DEFAULT_RANK = 16
VLLM_RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
LORA_KEY = re.compile(r"base_model\.model\..+\.lora_[AB]\.weight")


@dataclass(frozen=True)
class Acceptance:
    accepted: bool
    remarks: tuple[str, ...]


def vllm_accepts(payload: Payload) -> Acceptance:
    """vLLM's PEFTHelper and LoRAModel: plain LoRA, no bias, no saved modules, a rank that --max-lora-rank can hold."""
    config = payload.config
    faults = [
        f"vLLM needs {name} in adapter_config.json."
        for name in ("r", "lora_alpha", "target_modules")
        if config.get(name) is None
    ]
    if config.get("modules_to_save"):
        faults.append("vLLM takes no modules_to_save.")
    if config.get("bias", "none") != "none" or config.get("use_dora"):
        faults.append("vLLM takes neither bias nor DoRA.")
    if payload.rank > VLLM_MAX_RANK:
        faults.append(f"vLLM takes ranks up to {VLLM_MAX_RANK}; this one is {payload.rank}.")
    faults += _foreign_keys("vLLM", payload)
    notes = []
    if not faults and payload.rank > VLLM_DEFAULT_RANK:
        needed = next(size for size in VLLM_RANKS if size >= payload.rank)
        notes.append(f"Start vLLM with --max-lora-rank {needed}: its default is {VLLM_DEFAULT_RANK}.")
    return Acceptance(not faults, (*faults, *notes))


def llama_cpp_accepts(payload: Payload) -> Acceptance:
    """convert_lora_to_gguf: nothing but lora_A and lora_B of layers that exist in the base model, and an alpha."""
    faults = _foreign_keys("llama.cpp", payload)
    if payload.config.get("lora_alpha") is None:
        faults.append("llama.cpp needs lora_alpha.")
    if payload.config.get("use_dora") or payload.config.get("use_rslora"):
        faults.append("llama.cpp takes neither DoRA nor rank-stabilised scaling.")
    return Acceptance(not faults, tuple(faults))


def _foreign_keys(consumer: str, payload: Payload) -> list[str]:
    foreign = [key for key in payload.tensors if not LORA_KEY.fullmatch(key)]
    return [f"{consumer} does not know the tensor {foreign[0]}."] if foreign else []
