"""A published checkpoint, read once through the allow-list, becomes safetensors and JSON (section 2.1):
`python -m doc_to_lora.checkpoint PATH --base MODEL --out FOLDER`."""

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError
from torch import Tensor

from doc_to_lora.config import HypernetworkConfig, LayerKind, PerceiverAttention
from doc_to_lora.generate import check_tensors
from doc_to_lora.unpickle import Archive, Settings, unpickle
from imprint_trainer.errors import HypernetworkInvalid
from imprint_trainer.imprint.cli import exit_code
from imprint_trainer.imprint.config import PATHS
from imprint_trainer.imprint.folder import find, save

_MAX_DEPTH = 16
_MAX_NODES = 100_000
_MAX_INDICES = 4096  # layer_indices is the only tensor among the settings
_COMPILE_PREFIX = "_orig_mod."


@dataclass(frozen=True)
class RawCheckpoint:
    """A checkpoint before interpretation: tensors by key, settings under the reference's field names."""

    tensors: dict[str, Tensor]
    base_model_name_or_path: str
    hypernet_config: dict[str, Any]
    ctx_encoder_args: dict[str, Any]


def plain(value: object) -> Any:
    """Settings, sets, tuples and index tensors -> dicts and lists of JSON scalars.

    Raises HypernetworkInvalid for everything else, and for trees that are deep or large: a few bytes of pickle can
    unfold without end.
    """
    budget = iter(range(_MAX_NODES))

    def visit(node: object, depth: int) -> Any:
        if depth > _MAX_DEPTH or next(budget, None) is None:
            raise HypernetworkInvalid("The checkpoint's settings are nested too deeply or too large.")
        match node:
            case None | bool() | int() | float() | str():
                return node
            case Settings():
                return visit(vars(node), depth + 1)
            case dict():
                return {_text(key): visit(item, depth + 1) for key, item in node.items()}
            case set() | frozenset():
                return sorted(_text(item) for item in node)
            case list() | tuple():
                return [visit(item, depth + 1) for item in node]
            case Tensor() if node.numel() <= _MAX_INDICES:
                return visit(node.tolist(), depth + 1)
        raise HypernetworkInvalid(f"The checkpoint's settings hold a {type(node).__name__}.")

    return visit(value, 0)


def split_flat_dict(root: object) -> RawCheckpoint:
    """The one flat dict of a checkpoint; `torch.compile`'s prefix is stripped from its keys."""
    if not isinstance(root, dict) or not all(isinstance(key, str) for key in root):
        raise HypernetworkInvalid("The checkpoint is not one flat dict of named tensors.")
    settings = {key: plain(item) for key, item in root.items() if not isinstance(item, Tensor)}
    base = settings.pop("base_model_name_or_path", None)
    hypernet = settings.pop("hypernet_config", None)
    encoder = settings.pop("ctx_encoder_args", None)
    if not isinstance(base, str) or not isinstance(hypernet, dict) or not isinstance(encoder, dict):
        raise HypernetworkInvalid(
            "The checkpoint is no Doc-to-LoRA checkpoint: it lacks base_model_name_or_path, hypernet_config "
            "or ctx_encoder_args."
        )
    if settings:
        raise HypernetworkInvalid(f"The checkpoint holds {sorted(settings)[0]!r}, which is no tensor.")
    tensors = {key: item for key, item in root.items() if isinstance(item, Tensor)}
    return RawCheckpoint(strip_compile_prefix(tensors), base, hypernet, encoder)


def strip_compile_prefix(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Keys without the `_orig_mod.` that `torch.compile` puts into them."""
    stripped = {key.replace(_COMPILE_PREFIX, ""): tensor for key, tensor in tensors.items()}
    if len(stripped) != len(tensors):
        raise HypernetworkInvalid("Two of the checkpoint's tensors have the same name.")
    return stripped


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise HypernetworkInvalid("The checkpoint's settings name something that is no text.")
    return value


_PERCEIVER = "aggregator.perceiver"


@dataclass(frozen=True)
class Layout:
    """Sizes of a state dict, under the names of HypernetworkConfig."""

    modules: tuple[str, ...]
    num_layers: int
    rank: int
    d_in: dict[str, int]
    d_out: dict[str, int]
    feature_size: int
    projection_size: int
    latent_size: int
    n_latent_queries: int
    decoder_latents: int
    encoder_layers: tuple[LayerKind, ...]
    decoder_layers: tuple[LayerKind, ...]
    perceiver_mlp_size: int
    num_pre_head_layers: int
    per_layer_processing: bool
    pre_head_size: int


def read_layout(tensors: Mapping[str, Tensor]) -> Layout:
    """Raise HypernetworkInvalid when a tensor that fixes a size is missing."""

    def size(key: str, dim: int) -> int:
        tensor = tensors.get(key)
        if tensor is None or not -tensor.dim() <= dim < tensor.dim() or tensor.shape[dim] == 0:
            raise HypernetworkInvalid(f"The checkpoint has no usable tensor {key}.")
        return tensor.shape[dim]

    modules = tuple(sorted(key.removeprefix("scaler_A.") for key in tensors if key.startswith("scaler_A.")))
    if not modules:
        raise HypernetworkInvalid("The checkpoint has no scaler_A: it names no target module.")
    latent_size = size(f"{_PERCEIVER}.encoder.latents_q", 1)
    encoder_layers = _resampler_layers(tensors, "encoder")
    if not encoder_layers:
        raise HypernetworkInvalid("The checkpoint's Perceiver has no encoder layers.")
    first = f"{_PERCEIVER}.encoder.layers.0"
    blocks = _count(tensors, r"layers\.(\d+)\.")
    per_layer = "layers.0.layers.1.weight" in tensors or not blocks
    hidden_key = ("layers.0.layers.1.weight", 2) if per_layer else ("layers.0.mlp.2.weight", 0)
    return Layout(
        modules=modules,
        num_layers=size(f"scaler_A.{modules[0]}", 1),
        rank=size(f"scaler_A.{modules[0]}", 2),
        d_in={module: size(f"bias_A.{module}", 2) for module in modules},
        d_out={module: size(f"bias_B.{module}", 2) for module in modules},
        feature_size=size(f"{_PERCEIVER}.modality_projection.gate_proj.weight", 1),
        projection_size=size(f"{_PERCEIVER}.modality_projection.gate_proj.weight", 0),
        latent_size=latent_size,
        n_latent_queries=size(f"{_PERCEIVER}.encoder.latents_q", 0),
        decoder_latents=size(f"{_PERCEIVER}.decoder.latents_q", 0),
        encoder_layers=encoder_layers,
        decoder_layers=_resampler_layers(tensors, "decoder"),
        perceiver_mlp_size=size(f"{first}.mlp.gate_proj.weight", 0),
        num_pre_head_layers=blocks,
        per_layer_processing=per_layer,
        pre_head_size=size(*hidden_key) if blocks else 4 * latent_size,
    )


def _resampler_layers(tensors: Mapping[str, Tensor], part: str) -> tuple[LayerKind, ...]:
    """Self-attention layers are those without input_context_layernorm (section 9)."""
    prefix = f"{_PERCEIVER}.{part}.layers"
    return tuple(
        "cross" if f"{prefix}.{index}.input_context_layernorm.weight" in tensors else "self"
        for index in range(_count(tensors, re.escape(prefix) + r"\.(\d+)\."))
    )


def _count(tensors: Mapping[str, Tensor], pattern: str) -> int:
    found = {int(match[1]) for key in tensors if (match := re.match(pattern, key))}
    if found != set(range(len(found))):
        raise HypernetworkInvalid(f"The checkpoint's layers are not numbered 0 to {len(found) - 1}.")
    return len(found)


_REFERENCE_ATTENTION = PerceiverAttention()

# Settings of the reference that change the function and that no published checkpoint uses: refused by name
_UNSUPPORTED: tuple[tuple[str, object], ...] = (
    ("use_per_rank_bias", False),
    ("use_token_mixing", False),
    ("use_light_weight_lora", False),
    ("extra_modules", None),
)
_UNSUPPORTED_AGGREGATOR: tuple[tuple[str, object], ...] = (
    ("aggregator_type", "perceiver"),
    ("shared_weights", False),
    ("num_extra_modules", 0),
)


def reference_config(raw: RawCheckpoint, attention: PerceiverAttention = _REFERENCE_ATTENTION) -> HypernetworkConfig:
    """Counts and sizes come from the tensors (section 15.9), the rest from the settings.

    Fields that older files lack get the reference's fallbacks. Raises HypernetworkInvalid for settings that are not
    supported or contradict the tensors.
    """
    settings, aggregator = raw.hypernet_config, _mapping(raw.hypernet_config, "aggregator_config")
    layout = read_layout(raw.tensors)
    _refuse(settings, aggregator, layout)
    lora = _mapping(settings, "lora_config")
    encoder = raw.ctx_encoder_args.get("ctx_encoder_model_name_or_path")
    if encoder not in (None, raw.base_model_name_or_path):
        raise HypernetworkInvalid(f"The hypernetwork reads documents with another model, {encoder}: not supported.")
    kind = _encoder_kind(raw, layout)
    exit_layer = raw.ctx_encoder_args.get("layer_idx")
    try:
        return HypernetworkConfig(
            base_model_name_or_path=raw.base_model_name_or_path,
            layer_indices=tuple(range(layout.num_layers)),
            target_modules=layout.modules,
            d_in=layout.d_in,
            d_out=layout.d_out,
            rank=layout.rank,
            lora_alpha=lora.get("lora_alpha", 0),
            use_bias=settings.get("use_bias", True),
            encoder=kind,
            feature_size=layout.feature_size,
            exit_layer=(layout.num_layers // 4 if exit_layer is None else exit_layer) if kind == "early_exit" else None,
            encoder_last_layer=raw.ctx_encoder_args.get("ctx_encoder_last_layer"),
            quantize_encoder=raw.ctx_encoder_args.get("quantize_ctx_encoder", False),
            latent_size=layout.latent_size,
            n_latent_queries=layout.n_latent_queries,
            encoder_layers=layout.encoder_layers,
            decoder_layers=layout.decoder_layers,
            attention=attention,
            projection_size=layout.projection_size,
            perceiver_mlp_size=layout.perceiver_mlp_size,
            per_layer_processing=layout.per_layer_processing,
            num_pre_head_layers=layout.num_pre_head_layers,
            pre_head_size=layout.pre_head_size,
        )
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "settings"
        raise HypernetworkInvalid(f"The checkpoint's settings are unusable: {field}: {first['msg']}.") from None


def _refuse(settings: dict[str, Any], aggregator: dict[str, Any], layout: Layout) -> None:
    if settings.get("per_rank_gen", True) is False or aggregator.get("per_rank_gen", True) is False:
        raise HypernetworkInvalid("The checkpoint has per_rank_gen False, which the reference itself cannot run.")
    for source, rules in ((settings, _UNSUPPORTED), (aggregator, _UNSUPPORTED_AGGREGATOR)):
        for field, expected in rules:
            if source.get(field, expected) != expected:
                raise HypernetworkInvalid(f"The checkpoint has {field} {source[field]!r}: not supported.")
    unknown = [module for module in layout.modules if module not in PATHS]
    if unknown:
        raise HypernetworkInvalid(f"The checkpoint adapts {unknown[0]}, which is no linear layer of a decoder.")
    rank = _mapping(settings, "lora_config").get("r", layout.rank)
    if rank != layout.rank:
        raise HypernetworkInvalid(f"The checkpoint's settings say rank {rank}, its tensors {layout.rank}.")


def _encoder_kind(raw: RawCheckpoint, layout: Layout) -> Literal["per_layer_activations", "early_exit"]:
    """As the settings say; where they are silent, the decoder's latents tell the two apart (section 9)."""
    latents = {"per_layer_activations": len(layout.modules) * layout.rank}
    latents["early_exit"] = latents["per_layer_activations"] * layout.num_layers
    kind = raw.ctx_encoder_args.get("ctx_encoder_type")
    if kind is None:
        kind = "per_layer_activations" if layout.decoder_latents == latents["per_layer_activations"] else "early_exit"
    if kind not in latents:
        raise HypernetworkInvalid(f"The checkpoint has ctx_encoder_type {kind!r}: not supported.")
    if layout.decoder_latents != latents[kind]:
        raise HypernetworkInvalid(
            f"A {kind} hypernetwork has {latents[kind]} output latents, the checkpoint {layout.decoder_latents}."
        )
    return "early_exit" if kind == "early_exit" else "per_layer_activations"


def _mapping(settings: dict[str, Any], field: str) -> dict[str, Any]:
    value = settings.get(field)
    if not isinstance(value, dict):
        raise HypernetworkInvalid(f"The checkpoint's settings lack {field}.")
    return value


def read_checkpoint(path: Path) -> RawCheckpoint:
    """A `pytorch_model.bin`; raises HypernetworkInvalid when it is damaged, hostile or something else."""
    with Archive(path) as archive:
        raw = split_flat_dict(unpickle(archive))
    # Tensors may share storages: a small file could otherwise unfold into a huge hypernetwork
    if sum(tensor.nbytes for tensor in raw.tensors.values()) > 2 * path.stat().st_size:
        raise HypernetworkInvalid("The checkpoint's tensors are larger than the checkpoint.")
    return raw


def convert(path: Path, base_model_name: str, out_dir: Path) -> HypernetworkConfig:
    """Write `out_dir` from the checkpoint at `path`, which must have been made for `base_model_name`.

    Raises HypernetworkInvalid, with nothing written.
    """
    raw = read_checkpoint(path)
    if raw.base_model_name_or_path != base_model_name:
        raise HypernetworkInvalid(
            f"The checkpoint was trained for {raw.base_model_name_or_path}, not for {base_model_name}."
        )
    config = reference_config(raw)
    check_tensors(raw.tensors, config)
    save(config, raw.tensors, out_dir)
    return config


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="imprint hypernetworks convert", description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--base", required=True, help="base model that the checkpoint was trained for")
    parser.add_argument("--out", required=True, type=Path, help="folder to write")
    options = parser.parse_args(argv)

    def run() -> None:
        config = convert(options.path, options.base, options.out)
        used = find([options.out.parent], config.base_model_name_or_path)
        made = {"path": str(options.out), "used": used.name, "config": config.model_dump(mode="json")}
        print(json.dumps(made))

    return exit_code(run)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
