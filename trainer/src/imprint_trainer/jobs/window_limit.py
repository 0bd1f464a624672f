"""The length_limit window that a machine and a base model allow."""

from imprint_trainer.available_memory import available_mb
from imprint_trainer.data.length import USUAL, length_limit
from imprint_trainer.jobs.memory_plan import OnBase
from imprint_trainer.memory_model import Device, longest_window, shape_of
from imprint_trainer.models.locate import locate_base
from imprint_trainer.models.scan import read_json


def window_limit(spec: OnBase, device: Device) -> int:
    """Tokens; decided by the base model and the machine alone, so that plans, previews and trainings agree."""
    config = read_json(locate_base(spec.base_model).folder / "config.json")
    shape = shape_of(config)
    fits = longest_window(config, available_mb(device), device=device)
    return length_limit(made_for=shape.positions if shape else USUAL, fits=fits, on_cpu=device == "cpu")
