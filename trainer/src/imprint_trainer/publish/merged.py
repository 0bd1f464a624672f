"""An adapter added to its base model's weights, one file of them at a time: served without any LoRA support."""

import shutil
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from imprint_trainer.errors import AdapterInvalid, BaseModelInvalid, ExportUnsupported
from imprint_trainer.files import sync
from imprint_trainer.lora.adapter import Factors
from imprint_trainer.models.locate import read_json
from imprint_trainer.publish.peft_format import Source

COPIED = ("*.json", "*.jinja", "tokenizer.model", "merges.txt", "vocab.txt")
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
MERGEABLE = (torch.float32, torch.bfloat16, torch.float16)


def export_merged(
    source: Source, base: Path, target: Path, *, stop_if_cancelled: Callable[[], None] = lambda: None
) -> None:
    """Writes the base model's files to the folder `target`; its weights with the adapter added, in their own dtype.

    Raises ExportUnsupported for a quantised base model, AdapterInvalid where the adapter does not fit.
    """
    if "quantization_config" in read_json(base / "config.json"):
        raise ExportUnsupported("the base model is stored quantised: merging needs its unquantised weights")
    left = dict(source.layers)
    for name in weight_files(base):
        stop_if_cancelled()
        _merge_file(base / name, target / name, left, source.scale, stop_if_cancelled)
    if left:
        raise AdapterInvalid(f"the base model's files hold no weight of {next(iter(left))}")
    for pattern in COPIED:
        for path in sorted(base.glob(pattern)):
            shutil.copyfile(path, target / path.name)
            sync(target / path.name)


def weight_files(base: Path) -> list[str]:
    """The files that transformers loads: a folder may hold the same weights in another layout too."""
    if (base / INDEX).is_file():
        return sorted(set(read_json(base / INDEX)["weight_map"].values()))
    return [WEIGHTS]


def _merge_file(
    file: Path, target: Path, left: dict[str, Factors], scale: float, stop_if_cancelled: Callable[[], None]
) -> None:
    """Takes the layers that it merged out of `left`."""
    from safetensors import SafetensorError, safe_open
    from safetensors.torch import save_file

    try:
        with safe_open(file, framework="pt") as stored:
            metadata = stored.metadata() or {"format": "pt"}
            tensors = {key: stored.get_tensor(key) for key in stored.keys()}  # noqa: SIM118  no mapping
    except (SafetensorError, FileNotFoundError) as error:
        raise BaseModelInvalid(f"{file.name} cannot be read: {error}") from error
    stored_as = {layer: next((key for key in keys_of(layer) if key in tensors), None) for layer in left}
    for layer, key in stored_as.items():
        if key is not None:
            stop_if_cancelled()
            tensors[key] = merge_weight(tensors[key], left.pop(layer), scale, layer)
    save_file(tensors, target, metadata=metadata)
    target.chmod(0o644)
    sync(target)


def keys_of(layer: str) -> list[str]:
    """Of a layer's weight in a base's files: bases that read images too may name the text's part in another order, and
    Nemotron-H's its decoder `backbone`."""
    orders = (("", ""), ("model.language_model.", "language_model.model."), ("model.", "backbone."))
    return [f"{layer.replace(ours, theirs, 1)}.weight" for ours, theirs in orders]


def merge_weight(weight: Tensor, factors: Factors, scale: float, layer: str) -> Tensor:
    """`weight` [out, in] plus the update, summed in fp32 and rounded once."""
    if weight.dtype not in MERGEABLE:
        raise ExportUnsupported(f"{layer} is stored as {weight.dtype}: merging needs unquantised weights")
    if weight.shape != (factors.B.shape[1], factors.A.shape[1]):
        raise AdapterInvalid(f"the update of {layer} has another shape than the base model's weight")
    return (weight.float() + scale * (factors.B.mT @ factors.A)).to(weight.dtype)
