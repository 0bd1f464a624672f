"""The state of optimizers as named tensors, for checkpoints in safetensors."""

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

PREFIX = "optimizer."


def optimizer_tensors(
    named: Mapping[str, nn.Parameter], optimizers: Iterable[torch.optim.Optimizer]
) -> dict[str, Tensor]:
    """`optimizer.<slot>.<parameter>` -> the tensor itself, not a copy."""
    names: dict[Tensor, str] = {parameter: name for name, parameter in named.items()}
    return {
        f"{PREFIX}{slot}.{names[parameter]}": torch.as_tensor(value)
        for optimizer in optimizers
        for parameter, slots in optimizer.state.items()
        for slot, value in slots.items()
    }


def restore_optimizers(
    named: Mapping[str, nn.Parameter], optimizers: Iterable[torch.optim.Optimizer], tensors: Mapping[str, Tensor]
) -> None:
    """Gives each optimizer the state of the parameters that it holds; other keys of `tensors` are passed over."""
    for optimizer in optimizers:
        owned = {parameter for group in optimizer.param_groups for parameter in group["params"]}
        for key, value in tensors.items():
            if not key.startswith(PREFIX):
                continue
            slot, name = key.removeprefix(PREFIX).split(".", 1)
            if (parameter := named[name]) in owned:
                device = "cpu" if slot == "step" else parameter.device  # AdamW counts its steps on the CPU
                optimizer.state[parameter][slot] = value.to(device, copy=True)
