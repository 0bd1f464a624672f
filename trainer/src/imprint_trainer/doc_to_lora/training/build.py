"""A fresh hypernetwork for a base model (section 10, with the recipe's changes)."""

import math
from fractions import Fraction

import torch
from torch import nn

from imprint_trainer.doc_to_lora.config import HypernetworkConfig, PerceiverAttention
from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.doc_to_lora.targets import decoder
from imprint_trainer.doc_to_lora.training.config import Shape
from imprint_trainer.doc_to_lora.training.factored_head import FactoredBias, FactoredHead
from imprint_trainer.doc_to_lora.training.refusal import TrainingRefused
from imprint_trainer.models.causal_lm import CausalLM

MAX_CHUNK_LENGTH = 256
LATENT, PROJECTION, HIDDEN = Fraction(5, 9), Fraction(2, 3), Fraction(4, 9)  # of the base's hidden size
BASIS = Fraction(1, 3)  # of the target's inputs
UNIT = 32  # the shares are rounded to multiples of a head
FACTORED = ("head.", "bias_")  # names of what trains in fixed axes
BIAS_SCALE = 0.1  # of the head's ordinary scale: learned ranks must not drown generated ones


def share_of(width: int, share: Fraction) -> int:
    """The nearest multiple of UNIT, and at least one."""
    return max(UNIT, round(width * share / UNIT) * UNIT)


def basis_size(shape: Shape, d_in: int) -> int:
    """Axes of A for a target with so many inputs."""
    return min(shape.basis_size or share_of(d_in, BASIS), d_in)


def make_config(model: CausalLM, base_model_name: str, shape: Shape) -> HypernetworkConfig:
    """Sizes for `down_proj` of the base model's upper layers, early-exit encoder, no decoder.

    Raises TrainingRefused for a shape that the base model is too shallow for.
    """
    base, depth = model.config, len(decoder(model).layers)
    exit_layer = shape.exit_layer or max(1, depth * 2 // 15)
    first = depth - max(1, depth // 4) if shape.first_layer is None else shape.first_layer
    layers = shape.num_layers or max(1, depth - first)
    if exit_layer > depth or first + layers > depth:
        raise TrainingRefused(
            f"shape: exit_layer {exit_layer} and layers {first} to {first + layers - 1} do not fit a base model with "
            f"{depth} layers: change exit_layer, first_layer or num_layers."
        )
    latent_size = shape.latent_size or share_of(base.hidden_size, LATENT)
    hidden_size = shape.hidden_size or share_of(base.hidden_size, HIDDEN)
    heads = shape.heads or max(1, latent_size // shape.head_dim)
    return HypernetworkConfig(
        base_model_name_or_path=base_model_name,
        layer_indices=tuple(range(first, first + layers)),
        target_modules=("down_proj",),
        d_in={"down_proj": base.intermediate_size},
        d_out={"down_proj": base.hidden_size},
        rank=shape.rank,
        lora_alpha=1.0,
        encoder="early_exit",
        feature_size=base.hidden_size,
        exit_layer=exit_layer,
        latent_size=latent_size,
        n_latent_queries=layers * shape.rank,
        encoder_layers=("cross",) * shape.blocks,
        decoder_layers=(),
        attention=PerceiverAttention(n_heads=heads, num_key_value_heads=heads, head_dim=shape.head_dim),
        projection_size=shape.projection_size or share_of(base.hidden_size, PROJECTION),
        perceiver_mlp_size=hidden_size,
        pre_head_size=hidden_size,
        final_norm=False,
        normalize_features=True,
        skip_first_token=True,
        max_chunk_length=MAX_CHUNK_LENGTH,
    )


def named_sizes(shape: Shape, config: HypernetworkConfig) -> Shape:
    """The shape of a hypernetwork of this configuration, with the sizes that followed from its base."""
    (module,) = config.target_modules
    sizes = {
        "latent_size": config.latent_size,
        "projection_size": config.projection_size,
        "heads": config.attention.n_heads,
        "hidden_size": config.pre_head_size,
        "basis_size": shape.basis_size or share_of(config.d_in[module], BASIS),
    }
    return shape.model_copy(update=sizes)


def initialise(hypernetwork: Hypernetwork, head: FactoredHead) -> None:
    """Section 10, but scaler_B starts at one: A and B are small instead, which learns faster.

    Puts the trainable head and learned ranks in place.
    """
    config = hypernetwork.config
    layers, _, components = head.weight_A.shape
    for block in hypernetwork.layers:
        for parameter in block.parameters():
            if parameter.dim() == 3:
                nn.init.uniform_(parameter, -math.sqrt(3 / parameter.shape[1]), math.sqrt(3 / parameter.shape[1]))
            elif parameter.dim() == 5:
                nn.init.zeros_(parameter)
    nn.init.normal_(hypernetwork.aggregator.perceiver.encoder.latents_q)
    for module in config.target_modules:
        nn.init.ones_(hypernetwork.scaler_B[module])
    hypernetwork.head = head  # type: ignore[assignment]
    weight_A = torch.randn(layers, config.rank, components) * BIAS_SCALE / math.sqrt(components)
    weight_B = torch.zeros(layers, config.rank, head.weight_B.shape[-1])
    hypernetwork.bias_A = FactoredBias(weight_A, head.in_rows)  # type: ignore[assignment]
    hypernetwork.bias_B = FactoredBias(weight_B, head.out_rows)  # type: ignore[assignment]


def fold(hypernetwork: Hypernetwork) -> Hypernetwork:
    """A copy with an ordinary head and learned ranks, as files and the service take it."""
    plain = Hypernetwork(hypernetwork.config)
    state = {name: value for name, value in hypernetwork.state_dict().items() if not name.startswith(FACTORED)}
    state["head.weight"] = hypernetwork.head.weight.detach()
    for module in hypernetwork.config.target_modules:
        state[f"bias_A.{module}"] = hypernetwork.bias_A[module].detach()
        state[f"bias_B.{module}"] = hypernetwork.bias_B[module].detach()
    plain.load_state_dict(state)
    return plain.to(state["head.weight"].device).eval().requires_grad_(False)


def parameter_groups(hypernetwork: Hypernetwork) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """(matrices for Muon, everything else for AdamW): latents, norms, biases and scalers are no maps between spaces."""
    matrices: list[torch.Tensor] = []
    rest: list[torch.Tensor] = []
    for name, parameter in hypernetwork.named_parameters():
        is_matrix = parameter.dim() in (2, 3) and not any(part in name for part in ("latents_q", "bias_"))
        (matrices if is_matrix else rest).append(parameter)
    return matrices, rest
