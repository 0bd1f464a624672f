"""What the trainer asks of a causal language model of transformers, plain or wrapped by PEFT, and the resident base."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import torch
from torch import Tensor, nn


class CausalLMConfig(Protocol):
    """Sizes that every decoder's configuration names; what only some families have is asked for with `getattr`."""

    @property
    def hidden_size(self) -> int: ...
    @property
    def intermediate_size(self) -> int: ...
    @property
    def num_hidden_layers(self) -> int: ...
    @property
    def vocab_size(self) -> int: ...
    def get_text_config(self) -> Any: ...


class CausalLMOutput(Protocol):
    @property
    def logits(self) -> Tensor:
        """[B, S, vocabulary]"""


class DecoderOutput(Protocol):
    @property
    def last_hidden_state(self) -> Tensor:
        """[B, S, d]"""


class Decoder(Protocol):
    """The stack of blocks below the output head, of the Llama family."""

    config: Any
    layers: nn.ModuleList
    norm: nn.Module

    def __call__(self, **inputs: Any) -> DecoderOutput: ...


class CausalLM(Protocol):
    """An nn.Module too, as far as is named here."""

    @property
    def config(self) -> CausalLMConfig: ...
    @property
    def generation_config(self) -> Any: ...
    @property
    def device(self) -> torch.device: ...
    @property
    def dtype(self) -> torch.dtype: ...

    def __call__(self, *, input_ids: Tensor, **more: Any) -> CausalLMOutput:
        """input_ids [B, S]"""

    def generate(self, *, input_ids: Tensor, attention_mask: Tensor, **settings: Any) -> Tensor:
        """input_ids [B, S] -> prompts and what follows them [B, S + new]"""

    def get_decoder(self) -> Decoder: ...
    def get_input_embeddings(self) -> nn.Embedding: ...
    def get_output_embeddings(self) -> nn.Linear: ...
    def get_submodule(self, target: str) -> nn.Module: ...
    def set_submodule(self, target: str, module: nn.Module) -> None: ...
    def modules(self) -> Iterator[nn.Module]: ...
    def named_modules(self) -> Iterator[tuple[str, nn.Module]]: ...
    def parameters(self) -> Iterator[nn.Parameter]: ...
    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]: ...
    def buffers(self) -> Iterator[Tensor]: ...
    def requires_grad_(self, requires_grad: bool = True) -> Any: ...
    def train(self, mode: bool = True) -> Any: ...
    def eval(self) -> Any: ...


class PeftCausalLM(CausalLM, Protocol):
    def unload(self) -> CausalLM:
        """Takes the adapter's layers out and gives the base back as it was."""


Quantization = Literal["nf4", "none"]


@dataclass(frozen=True)
class LoadedBase:
    """`model` is frozen and in eval mode; whoever attaches an adapter detaches it again.

    `memo` keeps what never changes while the base is resident (its loss on the neutral text, its hash).
    """

    model: CausalLM
    tokenizer: Any
    folder: Path
    revision: str | None
    quantization: Quantization
    dequantised: bool
    computes_in: str  # number format of the products with its linear layers: float32, bfloat16
    device: torch.device
    digests: Path | None = None  # where digests of its files are kept for the next worker
    memo: dict[str, Any] = field(default_factory=dict)

    @property
    def loaded_by(self) -> str:
        """transformers' class that gives the base with modules of these names."""
        whole = self.model.config.get_text_config() is self.model.config
        return "AutoModelForCausalLM" if whole else "AutoModelForImageTextToText"
