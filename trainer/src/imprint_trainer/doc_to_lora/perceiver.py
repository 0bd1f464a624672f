"""The Perceiver (section 5.2): projection, encoder resampler, decoder resampler."""

from torch import Tensor, nn

from imprint_trainer.doc_to_lora.config import HypernetworkConfig
from imprint_trainer.doc_to_lora.gated_mlp import GatedMlp
from imprint_trainer.doc_to_lora.resampler import Resampler


class Perceiver(nn.Module):
    def __init__(self, config: HypernetworkConfig) -> None:
        super().__init__()
        self.modality_projection = GatedMlp(
            d_in=config.feature_size, d_hidden=config.projection_size, d_out=config.latent_size
        )
        self.encoder = Resampler(
            config.encoder_layers,
            n_latents=config.n_latent_queries,
            latent_size=config.latent_size,
            mlp_size=config.perceiver_mlp_size,
            heads=config.attention,
        )
        self.decoder: Resampler | None = None
        if config.decoder_layers:
            self.decoder = Resampler(
                config.decoder_layers,
                n_latents=config.output_latents,
                latent_size=config.latent_size,
                mlp_size=config.perceiver_mlp_size,
                heads=config.attention,
            )

    def encode(self, features: Tensor, mask: Tensor) -> Tensor:
        """features [B, S, D], mask [B, S] -> the encoder's latents after its final norm, [B, n_latent_queries, d]."""
        encoded: Tensor = self.encoder(self.modality_projection(features), mask)
        return encoded

    def decode(self, encoded: Tensor) -> Tensor:
        """[B, n_latent_queries, d] -> [B, output_latents, d]; without a decoder the latents are the ranks already."""
        if self.decoder is None:
            return encoded
        decoded: Tensor = self.decoder(encoded)
        return decoded
