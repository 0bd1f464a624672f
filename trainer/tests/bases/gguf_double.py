"""Tiny models as GGUF files, as llama.cpp's converters lay them out."""

from pathlib import Path
from typing import Any

import gguf
import torch

from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.load import load_base
from imprint_trainer.publish.gguf import (
    add_shape,
    add_tokenizer,
    add_weight,
    architecture_of,
    gguf_file,
    rows_of,
    stored_name,
)

Fields = dict[str, Any]


def rounded(folder: Path) -> LoadedBase:
    """A base whose weights bf16 and fp16 hold alike."""
    base = load_base(str(folder), quantization="none", device="cpu")
    model: Any = base.model
    for weight in model.parameters():
        weight.data = torch.where(weight.abs() < 2**-10, 0.0, weight).bfloat16().float()
    return base


def write_gguf(base: LoadedBase, target: Path, *, pre: str | None = None, extra: Fields | None = None) -> Path:
    """`pre`: another name for how text is split. `extra`: further fields, without the architecture, and tensors."""
    model: Any = base.model
    config = model.config
    architecture = architecture_of(config.model_type)
    with gguf_file(target, architecture) as writer:
        add_shape(writer, config)
        add_tokenizer(writer, base)
        if pre is not None:
            writer.kv_data[0][gguf.Keys.Tokenizer.PRE].value = pre
        for key, value in {**of_family(config), **(extra or {})}.items():
            if isinstance(value, torch.Tensor):
                writer.add_tensor(key, value.numpy())
            elif isinstance(value, str):
                writer.add_string(f"{architecture.name}.{key}", value)
            elif isinstance(value, int):
                writer.add_uint32(f"{architecture.name}.{key}", value)
            else:
                writer.add_float32(f"{architecture.name}.{key}", value)
        for key, weight in model.state_dict().items():
            if key == "lm_head.weight" and config.tie_word_embeddings:
                continue
            name = stored_name(key, architecture, config)
            shift = 1 if config.model_type == "gemma3_text" and name.endswith("norm.weight") else 0
            add_weight(writer, name, rows_of(weight, key, architecture, config) + shift)
    return target


def of_family(config: Any) -> Fields:
    if config.model_type == "granite":
        return {
            "embedding_scale": config.embedding_multiplier,
            "residual_scale": config.residual_multiplier,
            "attention.scale": config.attention_multiplier,
            "logit_scale": config.logits_scaling,
        }
    if config.model_type == "gemma3_text":
        return {
            "attention.sliding_window": config.sliding_window,
            "final_logit_softcapping": config.final_logit_softcapping,
            "rope.freq_base_swa": config.rope_parameters["sliding_attention"]["rope_theta"],
        }
    return {}
