"""The base model that a hypernetwork is trained for."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from imprint_trainer.doc_to_lora.training.vocabulary import vocabulary_of
from imprint_trainer.models.causal_lm import CausalLM


@dataclass(frozen=True)
class Base:
    """A causal language model of the Llama family, its tokenizer, and the name that the service knows it by."""

    model: CausalLM
    tokenizer: Any
    name: str

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """Whole words that the model has a token for."""
        return vocabulary_of(self.tokenizer)

    @property
    def identity(self) -> dict[str, Any]:
        """What tells one base from another: caches and checkpoints of a different one are refused."""
        config = self.model.config
        return {
            "name": self.name,
            "layers": config.num_hidden_layers,
            "hidden_size": config.hidden_size,
            "vocab_size": config.vocab_size,
            "dtype": str(self.model.dtype),
        }
