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


def write_gguf(
    base: LoadedBase,
    target: Path,
    *,
    pre: str | None = None,
    extra: Fields | None = None,
    pieces: bool = False,
    space: bool = True,
) -> Path:
    """`pre`: another name for how text is split. `extra`: further fields, without the architecture, and tensors.
    `pieces`: with a tokenizer of SentencePiece, as Llama 2, Mistral 7B and Gemma have; `space`: which puts one before a
    text."""
    model: Any = base.model
    config = model.config
    architecture = architecture_of(config.model_type)
    with gguf_file(target, architecture) as writer:
        add_shape(writer, config)
        add_tokenizer(writer, base)
        if pre is not None:
            writer.kv_data[0][gguf.Keys.Tokenizer.PRE].value = pre
        if pieces:
            write_pieces(writer.kv_data[0], config.vocab_size)
            writer.add_token_scores([-float(index) for index in range(config.vocab_size)])
            writer.add_add_space_prefix(space)
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
            add_weight(writer, name, rows_of(weight, key.rsplit(".", 1)[0], architecture, config) + shift)
    return target


PIECES = ["\u2581", "\u2581d", "\u2581de", "\u2581def", "\u2581r", "\u2581re", "\u2581ret", "de", "def", "re", "ret"]


def write_pieces(fields: Fields, size: int) -> None:
    keys = gguf.Keys.Tokenizer
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *PIECES]
    tokens += [chr(code) for code in range(ord("a"), ord("z") + 1)]
    tokens += [f"<unused{index}>" for index in range(size - len(tokens))]
    kinds = {"<unk>": 2, "<s>": 3, "</s>": 3}
    fields[keys.MODEL].value = "llama"
    fields[keys.LIST].value = tokens
    fields[keys.TOKEN_TYPE].value = [
        kinds.get(token, 6 if token.startswith("<0x") else 5 if token.startswith("<unused") else 1) for token in tokens
    ]
    del fields[keys.MERGES], fields[keys.PRE]


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
