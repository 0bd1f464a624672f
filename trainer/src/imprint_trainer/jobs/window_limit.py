"""The longest window that a machine and a base model allow."""

from imprint_trainer.data.length import USUAL, longest
from imprint_trainer.jobs.memory_plan import OnBase, available_to_each
from imprint_trainer.memory_model import Device, Quantization, longest_window, shape_of
from imprint_trainer.models.locate import locate_base
from imprint_trainer.models.scan import read_json


def window_limit(spec: OnBase, device: Device, shards: int = 1, nodes: int = 1) -> int:
    """Tokens; decided by the base model, the machine and in how many shards its processes hold the base, so that plans,
    previews and trainings agree."""
    config = read_json(locate_base(spec.base_model).folder / "config.json")
    shape = shape_of(config)
    quantization: Quantization = "nf4" if shards == 1 else "none"
    available = available_to_each(device, shards, nodes)
    fits = longest_window(config, available, quantization=quantization, device=device, shards=shards)
    return longest(made_for=shape.positions if shape else USUAL, fits=fits, on_cpu=device == "cpu")
