"""Writes an adapter's files."""

from pathlib import Path

from imprint_trainer.adapters.payload import Payload
from imprint_trainer.errors import TrainerError
from imprint_trainer.files import sync, write_json

CONFIG_FILE, WEIGHTS_FILE = "adapter_config.json", "adapter_model.safetensors"


class OutputNotEmptyError(TrainerError, FileExistsError):
    """The staging folder is somebody else's."""


def claim_folder(folder: Path) -> None:
    """An empty folder to write into, made if need be. Raises OutputNotEmptyError."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise OutputNotEmptyError("output_dir is not empty")


def empty_folder(folder: Path) -> None:
    """Removes what a job that failed has written."""
    for path in folder.iterdir() if folder.is_dir() else ():
        path.unlink(missing_ok=True)


def write_weights(folder: Path, payload: Payload) -> None:
    from safetensors.torch import save_file

    tensors = {key: payload.tensors[key] for key in sorted(payload.tensors)}
    save_file(tensors, folder / WEIGHTS_FILE, metadata={"format": "pt"})
    (folder / WEIGHTS_FILE).chmod(0o644)
    sync(folder / WEIGHTS_FILE)
    write_json(folder / CONFIG_FILE, payload.config)
