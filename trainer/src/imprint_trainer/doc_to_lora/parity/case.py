"""One folder of the fixtures' format: base model, hypernetwork, inputs and the reference's numbers."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor
from transformers import AutoModelForCausalLM

from imprint_trainer.doc_to_lora.checkpoint.build import build
from imprint_trainer.doc_to_lora.checkpoint.convert import read_checkpoint
from imprint_trainer.doc_to_lora.checkpoint.plain import RawCheckpoint, strip_compile_prefix
from imprint_trainer.doc_to_lora.checkpoint.reference import reference_config
from imprint_trainer.doc_to_lora.config import PerceiverAttention
from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.models.causal_lm import CausalLM


@dataclass(frozen=True)
class Case:
    description: dict[str, Any]
    model: CausalLM
    hypernetwork: Hypernetwork
    inputs: dict[str, Tensor]
    expected: dict[str, Tensor]


def load_case(folder: Path) -> Case:
    """The base model in fp32 with eager attention, as the reference's numbers were made."""
    description = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    model = AutoModelForCausalLM.from_pretrained(
        folder / "base",
        attn_implementation="eager",
        dtype=torch.float32,
        local_files_only=True,
        use_safetensors=True,
        trust_remote_code=False,
    ).eval()
    raw, attention = _read_hypernetwork(folder)
    attention = description.get("perceiver_attention") or attention
    config = reference_config(raw, PerceiverAttention.model_validate(attention or {}))
    return Case(
        description=description,
        model=model,
        hypernetwork=build(config, raw.tensors),
        inputs=load_file(folder / "inputs.safetensors"),
        expected=load_file(folder / "expected.safetensors"),
    )


def _read_hypernetwork(folder: Path) -> tuple[RawCheckpoint, dict[str, int] | None]:
    pickled = folder / "pytorch_model.bin"
    if pickled.is_file():
        return read_checkpoint(pickled), None
    settings = json.loads((folder / "hypernet_config.json").read_text(encoding="utf-8"))
    raw = RawCheckpoint(
        tensors=strip_compile_prefix(load_file(folder / "hypernet.safetensors")),
        base_model_name_or_path=settings["base_model_name_or_path"],
        hypernet_config=settings["hypernet_config"],
        ctx_encoder_args=settings["ctx_encoder_args"],
    )
    return raw, settings.get("perceiver_attention")
