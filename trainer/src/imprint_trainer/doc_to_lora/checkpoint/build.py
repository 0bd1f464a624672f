"""A hypernetwork from its configuration and tensors."""

from collections.abc import Mapping

import torch
from torch import Tensor

from imprint_trainer.doc_to_lora.config import HypernetworkConfig
from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.errors import HypernetworkInvalid


def expected_shapes(config: HypernetworkConfig) -> dict[str, tuple[int, ...]]:
    """Keys and shapes of a hypernetwork's state dict (section 9); allocates nothing."""
    with torch.device("meta"):
        return {key: tuple(tensor.shape) for key, tensor in Hypernetwork(config).state_dict().items()}


def check_tensors(tensors: Mapping[str, Tensor], config: HypernetworkConfig) -> None:
    """Raise HypernetworkInvalid unless the tensors are exactly those of `config`, floating and finite."""
    expected = expected_shapes(config)
    for key in sorted(expected.keys() | tensors.keys()):
        if key not in tensors:
            raise HypernetworkInvalid(f"The hypernetwork lacks the tensor {key}.")
        if key not in expected:
            raise HypernetworkInvalid(f"The hypernetwork holds a tensor that nothing uses: {key}.")
        tensor = tensors[key]
        if tuple(tensor.shape) != expected[key]:
            raise HypernetworkInvalid(f"{key} has the shape {tuple(tensor.shape)}; {expected[key]} was expected.")
        if not tensor.is_floating_point():
            raise HypernetworkInvalid(f"{key} holds {tensor.dtype}, not floating-point numbers.")
        if not bool(tensor.isfinite().all()):
            raise HypernetworkInvalid(f"{key} holds NaN or infinity.")


def build(
    config: HypernetworkConfig,
    tensors: Mapping[str, Tensor],
    *,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
) -> Hypernetwork:
    """A frozen hypernetwork in evaluation mode; raises HypernetworkInvalid when the tensors do not fit."""
    check_tensors(tensors, config)
    with torch.device("meta"):
        hypernetwork = Hypernetwork(config)
    placed = {key: tensor.to(device=device, dtype=dtype) for key, tensor in tensors.items()}
    hypernetwork.load_state_dict(placed, strict=True, assign=True)
    return hypernetwork.eval().requires_grad_(False)
