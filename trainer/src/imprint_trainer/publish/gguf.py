"""A LoRA adapter, or its base model, as the GGUF file that llama.cpp loads, laid out as llama.cpp's converters do."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from imprint_trainer.errors import ExportUnsupported, OutOfMemory, TrainerError, machine_failures
from imprint_trainer.files import sync
from imprint_trainer.models.causal_lm import LoadedBase, Quantization
from imprint_trainer.models.locate import model_config, read_json
from imprint_trainer.models.memory import available_bytes
from imprint_trainer.models.memory_model import gigabytes, linear_weights, shape_of
from imprint_trainer.publish.peft_format import Source


@dataclass(frozen=True)
class Architecture:
    """`interleaved`: llama.cpp's converter reorders the rows of q_proj and k_proj for its rotary embedding."""

    name: str
    interleaved: bool


# By `model_type` of config.json, as llama.cpp's convert_hf_to_gguf.py treats them.
ARCHITECTURES = {
    "llama": Architecture("llama", interleaved=True),
    "mistral": Architecture("llama", interleaved=True),
    "smollm3": Architecture("smollm3", interleaved=True),
    "granite": Architecture("granite", interleaved=True),
    "qwen2": Architecture("qwen2", interleaved=False),
    "qwen3": Architecture("qwen3", interleaved=False),
    "gemma": Architecture("gemma", interleaved=False),
    "gemma2": Architecture("gemma2", interleaved=False),
    "gemma3_text": Architecture("gemma3", interleaved=False),
    "phi3": Architecture("phi3", interleaved=False),
}
SHAPE = ("model_type", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "tie_word_embeddings")


def architecture_of(model_type: str) -> Architecture:
    """Raises ExportUnsupported for a family whose layout is not known here."""
    if model_type not in ARCHITECTURES:
        known = ", ".join(sorted(ARCHITECTURES))
        raise ExportUnsupported(f"GGUF export knows the model types {known}; this base model is {model_type}")
    return ARCHITECTURES[model_type]


def export_gguf(
    source: Source,
    model: Any,
    target: Path,
    *,
    adapter_id: str,
    base_model_name: str,
    stop_if_cancelled: Callable[[], None] = lambda: None,
) -> None:
    """Writes `target`, fp32, the same bytes every time. `model` is the base model's transformers config, or its shape.

    Raises ExportUnsupported for a base model or a layer that llama.cpp cannot take.
    """
    import gguf

    if source.config.use_rslora:
        raise ExportUnsupported("llama.cpp takes no rank-stabilised scaling; export merged instead")
    architecture = architecture_of(model.model_type)
    names = {layer: gguf_name(layer, architecture, model) for layer in source.layers}
    with gguf_file(target, architecture) as writer:
        writer.add_type(gguf.GGUFType.ADAPTER)
        writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
        writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, float(source.config.lora_alpha))
        writer.add_name(adapter_id)
        writer.add_base_model_count(1)
        writer.add_base_model_name(0, base_model_name)
        writer.add_file_type(gguf.LlamaFileType.ALL_F32)
        for layer, factors in source.layers.items():
            stop_if_cancelled()
            writer.add_tensor(f"{names[layer]}.lora_a", factors.A.contiguous().numpy())
            b = rows_of(factors.B.mT, layer, architecture, model)  # [out, rank]
            writer.add_tensor(f"{names[layer]}.lora_b", b.contiguous().numpy())


def shape_for_gguf(folder: Path) -> Any:
    """What `export_gguf` asks of a base's config; by transformers, which takes seconds, where the file says too little.
    Raises BaseModelInvalid."""
    stored = read_json(folder / "config.json")
    said = {key: stored.get(key) for key in SHAPE}
    return model_config(folder) if None in said.values() else SimpleNamespace(**said)


@contextmanager
def gguf_file(target: Path, architecture: Architecture) -> Iterator[Any]:
    """gguf's writer of `target`, which is on the disk when the block has ended well."""
    import gguf

    writer = gguf.GGUFWriter(target, architecture.name)
    try:
        yield writer
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()
    target.chmod(0o644)
    sync(target)


def gguf_name(layer: str, architecture: Architecture, model: Any) -> str:
    """The layer's weight in the base model's GGUF file. Raises ExportUnsupported where there is none."""
    name = names_in_gguf(architecture, model.num_hidden_layers).get_name(f"{layer}.weight", try_suffixes=(".weight",))
    if name is None or (layer == "lm_head" and model.tie_word_embeddings):
        raise ExportUnsupported(f"llama.cpp has no weight for {layer} of this base model")
    return str(name)


@cache
def names_in_gguf(architecture: Architecture, blocks: int) -> Any:
    import gguf

    kind = next(key for key, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture.name)
    return gguf.get_tensor_name_map(kind, blocks)


def stored_name(key: str, architecture: Architecture, model: Any) -> str:
    """The tensor that holds a weight or bias of the model in its GGUF file. Raises ExportUnsupported."""
    layer = key.removesuffix(".weight").removesuffix(".bias")
    return gguf_name(layer, architecture, model).removesuffix(".weight") + key.removeprefix(layer)


def rotated_heads(layer: str, model: Any) -> int | None:
    """Heads of a layer whose rows are in another order in files of interleaved families."""
    return {"q_proj": model.num_attention_heads, "k_proj": model.num_key_value_heads}.get(layer.rsplit(".", 1)[-1])


def interleave_halves(rows: Tensor, heads: int) -> Tensor:
    """[heads * 2 * half, n]: row j of a head's first half, then row j of its second half, and so on."""
    if rows.shape[0] % (2 * heads):
        raise ExportUnsupported(f"{rows.shape[0]} rows cannot be split into {heads} heads of two halves")
    return torch.stack(rows.reshape(heads, 2, -1, rows.shape[1]).unbind(1), dim=2).reshape(rows.shape)


def separate_halves(rows: Tensor, heads: int) -> Tensor:
    """What `interleave_halves` did, undone."""
    return torch.cat(rows.reshape(heads, -1, 2, rows.shape[1]).unbind(2), dim=1).reshape(rows.shape)


LAYOUT = 1  # to be raised when files are written differently, in the service's llama-cpp/gguf-files.ts too


def write_served(folder: Path, progress: Callable[[str], None], *, name: str | None = None) -> None:
    """Writes beside a base's weights the file that llama.cpp answers its chats from, of the NF4 weights that trainings
    compute with; or says why there is none, and the trainer answers."""
    try:
        with machine_failures():
            write_base(folder, folder / f"llama-cpp-{LAYOUT}-nf4.gguf", "nf4", progress, name=name)
    except TrainerError as error:
        progress(f"the trainer will answer chats, not llama.cpp: {error.message}")


def write_base(
    folder: Path, target: Path, quantization: Quantization, progress: Callable[[str], None], *, name: str | None = None
) -> None:
    """The file is there as a whole or not at all. Raises ExportUnsupported, OutOfMemory, and what `load_base` does."""
    supported(model_config(folder))
    require_memory(folder)
    from imprint_trainer.models.load import load_base

    progress("reading the weights for llama.cpp")
    base = load_base(str(folder), quantization=quantization, device="cpu", dequantised=True)
    progress("writing them for llama.cpp")
    with whole_file(target) as draft:
        export_base_gguf(base, draft, name=name or folder.name)


def require_memory(folder: Path) -> None:
    """Raises OutOfMemory where the weights, which are held in fp32, do not fit."""
    shape = shape_of(read_json(folder / "config.json"))
    needed, free = 0 if shape is None else 4e-6 * linear_weights(shape), available_bytes() / 1e6
    if needed > free:
        raise OutOfMemory(f"its file takes {gigabytes(needed)} of memory to write, and {gigabytes(free)} are available")


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """A file to write, which becomes `target` when the block has ended well, and is removed else."""
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    draft.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield draft
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


FAMILIES = ("llama", "mistral", "qwen2", "qwen3")
NORMAL, CONTROL, USER_DEFINED, UNUSED = 1, 3, 4, 5  # llama.cpp's token types
# How llama.cpp calls a way to split text before BPE, by what tokenizer.json says of it.
PRE_TOKENIZERS = {"Digits,ByteLevel": "smollm", "Split,ByteLevel": "qwen2", "ByteLevel": "gpt-2"}


def export_base_gguf(base: LoadedBase, target: Path, *, name: str) -> None:
    """Writes `target`: matrices that the trainer multiplies in bf16 as they are, others in fp16, norms in fp32. Weights
    that were quantised to NF4 are written as they compute: an adapter answers on the base that it was trained on.

    Raises ExportUnsupported for a model that llama.cpp would read differently.
    """
    import gguf

    model: Any = base.model
    config = model.config
    architecture = supported(config)
    with gguf_file(target, architecture) as writer:
        writer.add_name(name)
        writer.add_file_type(gguf.LlamaFileType.MOSTLY_BF16)
        add_shape(writer, config)
        add_tokenizer(writer, base)
        for key, weight in model.state_dict().items():
            if key == "lm_head.weight" and config.tie_word_embeddings:
                continue
            rows = rows_of(weight.cpu(), key.rsplit(".", 1)[0], architecture, config)
            add_weight(writer, stored_name(key, architecture, config), rows)


def supported(config: Any) -> Architecture:
    """Raises ExportUnsupported."""
    if config.model_type not in FAMILIES:
        raise ExportUnsupported(f"a base model becomes GGUF where its type is one of {', '.join(FAMILIES)}")
    rope = rope_of(config)
    if rope.get("rope_type", "default") != "default":
        raise ExportUnsupported(f"rotary embeddings of the type {rope['rope_type']} are not written to GGUF")
    if getattr(config, "sliding_window", None) and getattr(config, "use_sliding_window", True):
        raise ExportUnsupported("a sliding window is not written to GGUF")
    return architecture_of(config.model_type)


def rope_of(config: Any) -> dict[str, Any]:
    return dict(getattr(config, "rope_parameters", None) or {})


def add_shape(writer: Any, config: Any) -> None:
    heads = config.num_attention_heads
    head = int(getattr(config, "head_dim", None) or config.hidden_size // heads)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(head)
    writer.add_value_length(head)
    writer.add_rope_dimension_count(head)
    writer.add_rope_freq_base(float(rope_of(config).get("rope_theta", 10000.0)))
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)


def add_tokenizer(writer: Any, base: LoadedBase) -> None:
    """Byte-level BPE alone. Raises ExportUnsupported for another tokenizer."""
    stored = json.loads(base.tokenizer.backend_tokenizer.to_str())
    steps = stored["pre_tokenizer"] or {}
    split = ",".join(step["type"] for step in steps.get("pretokenizers", [steps]) if step)
    if stored["model"]["type"] != "BPE" or not split.endswith("ByteLevel"):
        raise ExportUnsupported("a tokenizer that is no byte-level BPE is not written to GGUF")
    vocabulary = {index: token for token, index in base.tokenizer.get_vocab().items()}
    kinds = {token["id"]: CONTROL if token["special"] else USER_DEFINED for token in stored["added_tokens"]}
    size = range(base.model.config.vocab_size)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(PRE_TOKENIZERS.get(split, "default"))
    writer.add_token_list([vocabulary.get(index, f"[PAD{index}]") for index in size])
    writer.add_token_types([kinds.get(index, NORMAL) if index in vocabulary else UNUSED for index in size])
    merges = stored["model"]["merges"]
    writer.add_token_merges([merge if isinstance(merge, str) else " ".join(merge) for merge in merges])
    writer.add_eos_token_id(base.tokenizer.eos_token_id)
    if base.tokenizer.bos_token_id is not None:
        writer.add_bos_token_id(base.tokenizer.bos_token_id)
    writer.add_add_bos_token(False)
    if base.tokenizer.chat_template:
        writer.add_chat_template(base.tokenizer.chat_template)


def rows_of(weight: Tensor, layer: str, architecture: Architecture, config: Any) -> Tensor:
    """Weight [out, in], bias [out] or lora_B [out, rank], Q's and K's rows in llama.cpp's order."""
    heads = rotated_heads(layer, config)
    if heads is None or not architecture.interleaved:
        return weight
    return interleave_halves(weight.reshape(weight.shape[0], -1), heads).reshape(weight.shape)


def add_weight(writer: Any, name: str, weight: Tensor) -> None:
    import gguf

    kinds = gguf.GGMLQuantizationType
    values = weight.float().contiguous().numpy()
    if values.ndim == 1:
        writer.add_tensor(name, values)
        return
    kind = kinds.BF16 if weight.dtype == torch.bfloat16 else kinds.F16
    writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)
