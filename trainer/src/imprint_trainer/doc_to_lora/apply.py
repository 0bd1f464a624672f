"""The generated update applied to a live model, without PEFT (section 8)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from imprint_trainer.doc_to_lora.config import AdapterPlace
from imprint_trainer.doc_to_lora.targets import module_path
from imprint_trainer.lora.adapter import Factors
from imprint_trainer.models.causal_lm import CausalLM


@contextmanager
def applied(
    model: CausalLM, factors: dict[str, Factors], config: AdapterPlace, *, scaling: float = 1.0
) -> Iterator[None]:
    """While open, each target module computes W x + scaling * lora_alpha * B^T (A x).

    The multiplier is lora_alpha itself, not alpha / r (section 15.1). factors: for each module A [L, R, d_in],
    B [L, R, d_out]; differentiable in them.
    """
    hooks = []
    try:
        for module, pair in factors.items():
            for layer, A, B in zip(config.layer_indices, pair.A.unbind(), pair.B.unbind(), strict=True):
                target = model.get_submodule(module_path(layer, module))
                hook = _adding(A, B, scaling * config.lora_alpha)
                hooks.append(target.register_forward_hook(hook))
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _adding(A: Tensor, B: Tensor, multiplier: float) -> Any:
    def add(_: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> Tensor:
        delta = multiplier * ((args[0].to(A.dtype) @ A.mT) @ B)  # A [R, d_in], B [R, d_out]
        return (output + delta).to(output.dtype)

    return add
