"""A LoRA adapter as the GGUF file that llama.cpp loads (`--lora`), laid out as its convert_lora_to_gguf.py does."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from imprint_trainer.adapters.export.architectures import Architecture, architecture_of
from imprint_trainer.adapters.export.source import Source
from imprint_trainer.errors import ExportUnsupported
from imprint_trainer.files import sync


def export_gguf(
    source: Source,
    model: Any,
    target: Path,
    *,
    adapter_id: str,
    base_model_name: str,
    stop_if_cancelled: Callable[[], None] = lambda: None,
) -> None:
    """Writes `target`, fp32, the same bytes every time. `model` is the base model's transformers config.

    Raises ExportUnsupported for a base model or a layer that llama.cpp cannot take.
    """
    import gguf

    if source.config.use_rslora:
        raise ExportUnsupported("llama.cpp takes no rank-stabilised scaling; export merged instead")
    architecture = architecture_of(model.model_type)
    names = {layer: gguf_name(layer, architecture, model) for layer in source.layers}
    writer = gguf.GGUFWriter(target, architecture.name)
    try:
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
            b = factors.B.mT  # [out, rank]
            if architecture.interleaved:
                b = rows_for_llama_cpp(b, layer, model)
            writer.add_tensor(f"{names[layer]}.lora_b", b.contiguous().numpy())
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()
    target.chmod(0o644)
    sync(target)


def gguf_name(layer: str, architecture: Architecture, model: Any) -> str:
    """The layer's weight in the base model's GGUF file. Raises ExportUnsupported where there is none."""
    import gguf

    kind = next(key for key, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture.name)
    name = gguf.get_tensor_name_map(kind, model.num_hidden_layers).get_name(
        f"{layer}.weight", try_suffixes=(".weight",)
    )
    if name is None or (layer == "lm_head" and model.tie_word_embeddings):
        raise ExportUnsupported(f"llama.cpp has no weight for {layer} of this base model")
    return str(name)


def rows_for_llama_cpp(b: Tensor, layer: str, model: Any) -> Tensor:
    """lora_B with the rows of Q and K in llama.cpp's order: the two halves of each head interleaved."""
    heads = {"q_proj": model.num_attention_heads, "k_proj": model.num_key_value_heads}.get(layer.rsplit(".", 1)[-1])
    return b if heads is None else interleave_halves(b, heads)


def interleave_halves(rows: Tensor, heads: int) -> Tensor:
    """[heads * 2 * half, n]: row j of a head's first half, then row j of its second half, and so on."""
    if rows.shape[0] % (2 * heads):
        raise ExportUnsupported(f"{rows.shape[0]} rows cannot be split into {heads} heads of two halves")
    return torch.stack(rows.reshape(heads, 2, -1, rows.shape[1]).unbind(1), dim=2).reshape(rows.shape)
