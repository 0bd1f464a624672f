"""An adapter that leaves the resident base and comes back, while its training goes on."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import nn

from imprint_trainer.lora.fuse import kernels_for, put_on, take_off
from imprint_trainer.models.causal_lm import CausalLM


class Seat:
    """That of a model of `fresh_adapter`, which is on its base when this is made, and must be when it is detached."""

    def __init__(self, model: Any) -> None:
        from peft.tuners.lora import LoraLayer

        self.base: Any = model.get_base_model()
        self.layers: dict[str, Any] = {
            name: module for name, module in self.base.named_modules() if isinstance(module, LoraLayer)
        }
        self._peft_config = self.base.peft_config
        self._kernels = kernels_for(model)

    def leave(self) -> None:
        """The base is as without an adapter."""
        take_off(self._kernels)
        place(self.base, {name: layer.base_layer for name, layer in self.layers.items()})
        del self.base.peft_config

    def take(self) -> None:
        place(self.base, self.layers)
        self.base.peft_config = self._peft_config
        put_on(self._kernels)


def place(model: Any, modules: Mapping[str, nn.Module]) -> None:
    """Modules at these places of a model."""
    for name, module in modules.items():
        parent, _, last = name.rpartition(".")
        setattr(model.get_submodule(parent), last, module)


@contextmanager
def placed(model: CausalLM, modules: Mapping[str, nn.Module]) -> Iterator[None]:
    """While open."""
    before = {name: model.get_submodule(name) for name in modules}
    place(model, modules)
    try:
        yield
    finally:
        place(model, before)
