"""The reference's settings (section 2.2) and a state dict's layout -> HypernetworkConfig."""

from typing import Any, Literal

from pydantic import ValidationError

from imprint_trainer.doc_to_lora.checkpoint.layout import Layout, read_layout
from imprint_trainer.doc_to_lora.checkpoint.plain import RawCheckpoint
from imprint_trainer.doc_to_lora.config import HypernetworkConfig, PerceiverAttention
from imprint_trainer.doc_to_lora.targets import PATHS
from imprint_trainer.errors import HypernetworkInvalid

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
