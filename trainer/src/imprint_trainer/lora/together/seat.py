"""An adapter that leaves the resident base and comes back, while its training goes on."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import nn

from imprint_trainer.lora.fuse import kernels_for, put_on, take_off

Places = Mapping[str, tuple[dict[str, Any], str]]  # of a layer's name: its parent's table of modules, and its key there


class Seat:
    """That of a model of `fresh_adapter`, which is on its base when this is made, and must be when it is detached."""

    def __init__(self, model: Any) -> None:
        from peft.tuners.lora import LoraLayer

        self.base: Any = model.get_base_model()
        self.layers: dict[str, Any] = {
            name: module for name, module in self.base.named_modules() if isinstance(module, LoraLayer)
        }
        self.places = places_of(self.base, self.layers)
        self._peft_config = self.base.peft_config
        self._kernels = kernels_for(model)

    def leave(self) -> None:
        """The base is as without an adapter."""
        take_off(self._kernels)
        place(self.places, {name: layer.base_layer for name, layer in self.layers.items()})
        del self.base.peft_config

    def take(self) -> None:
        place(self.places, self.layers)
        self.base.peft_config = self._peft_config
        put_on(self._kernels)


def places_of(model: Any, names: Iterable[str]) -> Places:
    parts = {name: name.rpartition(".") for name in names}
    return {name: (model.get_submodule(parent)._modules, last) for name, (parent, _, last) in parts.items()}


def place(places: Places, modules: Mapping[str, nn.Module]) -> None:
    """Modules at these places. Into the tables themselves: looking for them takes longer than a short window."""
    for name, module in modules.items():
        table, last = places[name]
        table[last] = module


@contextmanager
def placed(places: Places, modules: Mapping[str, nn.Module]) -> Iterator[None]:
    """While open."""
    before = {name: places[name][0][places[name][1]] for name in modules}
    place(places, modules)
    try:
        yield
    finally:
        place(places, before)
