"""An adapter on disk as the exports read it: its settings, and the two factors of every layer."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from imprint_trainer.adapters.attach import AdapterConfig, read_adapter_config
from imprint_trainer.adapters.payload import A, B
from imprint_trainer.adapters.write import WEIGHTS_FILE
from imprint_trainer.errors import AdapterInvalid
from imprint_trainer.lora.factors import Factors

PREFIX = "base_model.model."


@dataclass(frozen=True)
class Source:
    """`layers` by the name of the layer in the base model, such as `model.layers.0.self_attn.q_proj`; their updates are
    `scale * B^T A`."""

    config: AdapterConfig
    layers: Mapping[str, Factors]

    @property
    def scale(self) -> float:
        rank = self.config.r**0.5 if self.config.use_rslora else self.config.r
        return float(self.config.lora_alpha / rank)


def read_source(folder: Path) -> Source:
    """Raises AdapterInvalid for files that are no plain LoRA adapter."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    config = read_adapter_config(folder)
    try:
        tensors = load_file(folder / WEIGHTS_FILE)
    except SafetensorError as error:
        raise AdapterInvalid(f"{WEIGHTS_FILE} cannot be read: {error}") from error
    layers = {}
    for key in sorted(key for key in tensors if key.endswith(A)):
        a, b = tensors[key].float(), tensors.get(key.removesuffix(A) + B)
        if not key.startswith(PREFIX) or b is None or a.ndim != 2 or b.ndim != 2 or a.shape[0] != b.shape[1]:
            raise AdapterInvalid(f"{key} and its lora_B make no update")
        layers[key.removeprefix(PREFIX).removesuffix(A)] = Factors(a, b.float().mT)
    if not layers or 2 * len(layers) != len(tensors):
        raise AdapterInvalid(f"{WEIGHTS_FILE} holds other tensors than pairs of lora_A and lora_B")
    return Source(config, layers)
