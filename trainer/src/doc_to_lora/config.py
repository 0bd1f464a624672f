"""What a hypernetwork is made of (section 2.2): one frozen value that round-trips through JSON."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from imprint_trainer.imprint.config import AdapterPlace, Size

LayerKind = Literal["cross", "self"]


class PerceiverAttention(BaseModel):
    """Head counts of the Perceiver. Checkpoints do not store them: the defaults are the reference's (section 5.2)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    n_heads: Size = 16
    num_key_value_heads: Size = 4
    head_dim: Size = 128

    @model_validator(mode="after")
    def _heads_share_evenly(self) -> Self:
        if self.n_heads % self.num_key_value_heads:
            raise ValueError(f"n_heads {self.n_heads} is no multiple of num_key_value_heads {self.num_key_value_heads}")
        return self


class HypernetworkConfig(AdapterPlace):
    """A Doc-to-LoRA hypernetwork's sizes and settings; defaults are the reference's."""

    use_bias: bool = True

    # The context encoder
    encoder: Literal["per_layer_activations", "early_exit"] = "per_layer_activations"
    exit_layer: Annotated[int, Field(ge=0)] | None = None
    encoder_last_layer: Size | None = None
    quantize_encoder: bool = False

    # The Perceiver
    latent_size: Size = 512
    n_latent_queries: Size = 8
    encoder_layers: tuple[LayerKind, ...] = Field(default=("cross",) * 9, min_length=1)
    decoder_layers: tuple[LayerKind, ...] = ("cross",)
    attention: PerceiverAttention = PerceiverAttention()
    projection_size: Size
    perceiver_mlp_size: Size = 2048

    # The head
    per_layer_processing: bool = True
    num_pre_head_layers: Annotated[int, Field(ge=0)] = 1
    pre_head_size: Size = 2048

    max_chunk_length: Size | None = Field(default=None, description="Ids of a chunk where a request names no length")

    # Folders hold these; what they were settings of is gone
    final_norm: Literal[True] = True
    normalize_features: Literal[False] = False
    skip_first_token: Literal[False] = False
    chunk_scaling: Literal["sum"] = "sum"

    @model_validator(mode="after")
    def _fields_agree(self) -> Self:
        if self.encoder == "early_exit" and self.exit_layer is None:
            raise ValueError("an early_exit encoder needs exit_layer")
        if not self.decoder_layers and self.n_latent_queries != self.output_latents:
            raise ValueError(
                f"without decoder_layers, n_latent_queries must be {self.output_latents}: one latent for each rank"
            )
        return self

    @property
    def per_layer_features(self) -> bool:
        """The Perceiver sees each layer's features by themselves (section 5.1)."""
        return self.encoder == "per_layer_activations"

    @property
    def output_latents(self) -> int:
        """Latents that one pass of the Perceiver hands to the head: one for each rank it makes."""
        return (1 if self.per_layer_features else self.num_layers) * len(self.target_modules) * self.rank

    @property
    def d_lora(self) -> int:
        """Width of the head's output, wide enough for the largest module (section 6.3)."""
        return max(self.d_in[module] + self.d_out[module] for module in self.target_modules)
