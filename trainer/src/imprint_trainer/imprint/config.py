"""Where an imprint's adapter sits in its base model, and the settings of the closed form (`hypernetwork.json`)."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import nn

from imprint_trainer.errors import HypernetworkInvalid
from imprint_trainer.imprint.memory import MOST_SUPERVISED
from imprint_trainer.models.causal_lm import CausalLM, Decoder

Size = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]

FORMAT_VERSION: Literal[1] = 1

PATHS = {
    **{name: f"self_attn.{name}" for name in ("q_proj", "k_proj", "v_proj", "o_proj", "qkv_proj")},
    **{name: f"mlp.{name}" for name in ("down_proj", "up_proj", "gate_proj", "gate_up_proj")},
}


class AdapterPlace(BaseModel):
    """Where a hypernetwork's adapters sit in its base model, whatever makes them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format_version: Literal[1] = FORMAT_VERSION
    base_model_name_or_path: str = Field(min_length=1)
    layer_indices: tuple[Annotated[int, Field(ge=0)], ...] = Field(min_length=1)
    target_modules: tuple[str, ...] = Field(min_length=1)
    d_in: dict[str, Size]
    d_out: dict[str, Size]
    rank: Size = 8
    lora_alpha: float = Field(gt=0, allow_inf_nan=False)
    feature_size: Size = Field(description="Hidden size of the base model")

    @model_validator(mode="after")
    def _places_agree(self) -> Self:
        if list(self.layer_indices) != sorted(set(self.layer_indices)):
            raise ValueError("layer_indices must rise without repeats")
        if list(self.target_modules) != sorted(set(self.target_modules)):
            raise ValueError("target_modules must be sorted and without repeats")
        for field, sizes in (("d_in", self.d_in), ("d_out", self.d_out)):
            if set(sizes) != set(self.target_modules):
                raise ValueError(f"{field} must name exactly the target modules")
        return self

    @property
    def num_layers(self) -> int:
        """Base model layers that get an adapter."""
        return len(self.layer_indices)


class ClosedFormConfig(AdapterPlace):
    """Defaults are those that were measured best on recorded sessions (docs/imprints.md)."""

    kind: Literal["ridge"] = "ridge"
    rank: Size = 128
    lora_alpha: float = Field(default=1.0, gt=0, allow_inf_nan=False)

    # What is read
    most_supervised: Size = MOST_SUPERVISED
    least_supervised: Any = Field(default=None, exclude=True)  # of earlier folders: read, without effect, not written

    # The solution
    step: Positive = 0.01  # of the natural gradient, shared by the layers
    ridge: Positive = 300.0  # supervised tokens that the inputs of ordinary text weigh as much as
    damping: Positive = 0.1  # of the errors' second moment, as a share of its mean
    axes: Size  # that each layer's second moment is kept in, beside its diagonal


def module_path(layer: int, module: str) -> str:
    """Name of a target module inside a causal language model of the Llama family."""
    return f"model.layers.{layer}.{PATHS[module]}"


def decoder(model: CausalLM) -> Decoder:
    """The stack of blocks inside a causal language model; raises HypernetworkInvalid for other architectures."""
    inner: Any = getattr(model, "model", None)
    if not isinstance(getattr(inner, "layers", None), nn.ModuleList) or not hasattr(inner, "norm"):
        raise HypernetworkInvalid(
            f"{type(model).__name__} is no decoder of the Llama family (model.layers and model.norm): "
            "hypernetworks work for Llama, Qwen, Gemma and Mistral models."
        )
    found: Decoder = inner
    return found


def check_fits(model: CausalLM, config: AdapterPlace) -> None:
    """Raise HypernetworkInvalid unless the base model has the hypernetwork's hidden size and target modules."""
    blocks, hidden_size = decoder(model).layers, model.config.hidden_size
    if hidden_size != config.feature_size:
        raise HypernetworkInvalid(
            f"The hypernetwork reads features of size {config.feature_size}; the base model's have {hidden_size}."
        )
    for layer in config.layer_indices:
        if layer >= len(blocks):
            raise HypernetworkInvalid(
                f"The hypernetwork adapts layer {layer}; the base model has {len(blocks)} layers."
            )
        for module in config.target_modules:
            try:
                linear: Any = blocks[layer].get_submodule(PATHS[module])
            except (AttributeError, KeyError):
                raise HypernetworkInvalid(f"The base model has no {module} in layer {layer}.") from None
            sizes = (linear.in_features, linear.out_features)
            wanted = (config.d_in[module], config.d_out[module])
            if sizes != wanted:
                raise HypernetworkInvalid(
                    f"{module} of the base model's layer {layer} is {sizes[0]} x {sizes[1]}, "
                    f"the hypernetwork makes {wanted[0]} x {wanted[1]}."
                )
