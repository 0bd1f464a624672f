"""One hypernetwork of several of the same shape: the mean of their weights (model soups, Wortsman et al. 2022)."""

from collections.abc import Sequence
from pathlib import Path

import torch

from imprint_trainer.doc_to_lora.checkpoint import store
from imprint_trainer.errors import HypernetworkInvalid


def average(
    folders: Sequence[Path],
    weights: Sequence[float] | None,
    out: Path,
    *,
    generated_scale: float = 1.0,
    learned_scale: float = 1.0,
) -> None:
    """Writes the weighted mean to `out`, in bf16; without `weights` all count alike. Only hypernetworks of one ancestry
    have a mean that works.

    The scales multiply the ranks that are generated of a document, and those that every adapter gets. Raises
    HypernetworkInvalid for weights that have no mean, and for hypernetworks of different bases or shapes.
    """
    shares = [1.0] * len(folders) if weights is None else list(weights)
    if len(shares) != len(folders) or min(shares) < 0 or not 0 < sum(shares) < float("inf"):
        raise HypernetworkInvalid(
            f"--weights: give {len(folders)} numbers that are not negative and not all 0, one for each hypernetwork."
        )
    given = [store.load(folder) for folder in folders]
    config = given[0].config
    for folder, other in zip(folders, given, strict=True):
        if other.config != config:
            raise HypernetworkInvalid(f"{folder.name} has another base or shape than {folders[0].name}.")
    if learned_scale != 1 and not config.use_bias:
        raise HypernetworkInvalid(f"--learned-scale: {folders[0].name} has no learned ranks.")
    states, total = [network.state_dict() for network in given], sum(shares)
    scales = {"scaler_B": generated_scale, "bias_B": learned_scale}
    tensors = {}
    for name in states[0]:
        mean = sum(share / total * state[name] for share, state in zip(shares, states, strict=True))
        tensors[name] = (mean * scales.get(name.split(".")[0], 1.0)).to(torch.bfloat16)
    store.save(config, tensors, out)
