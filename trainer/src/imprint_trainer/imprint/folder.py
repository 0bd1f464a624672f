"""Hypernetworks on disk: folders with `hypernetwork.json` and `model.safetensors`."""

import json
import shutil
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from imprint_trainer.errors import HypernetworkInvalid, HypernetworkNotInstalled
from imprint_trainer.imprint.config import AdapterPlace
from imprint_trainer.imprint.solve import CLOSED_FORM
from imprint_trainer.imprint.update import Format, Hypernetwork

CONFIG_FILE = "hypernetwork.json"
WEIGHTS_FILE = "model.safetensors"


@dataclass(frozen=True)
class Installed:
    """A hypernetwork found in a folder; `problem` says why it cannot be used."""

    name: str
    path: Path
    base_model: str | None
    size: int  # bytes of the weights
    problem: str | None
    kind: str | None


def save(config: AdapterPlace, tensors: Mapping[str, Tensor], folder: Path) -> None:
    """Write a folder as a whole or not at all; an earlier hypernetwork of the same name is replaced. Raises
    HypernetworkInvalid for a folder that holds something else."""
    if folder.exists() and any(folder.iterdir()) and not (folder / CONFIG_FILE).is_file():
        raise HypernetworkInvalid(f"{folder.name} exists and holds no hypernetwork: choose another folder.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    staging = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
    try:
        staging.mkdir()
        save_file(_unshared(tensors), staging / WEIGHTS_FILE)
        (staging / CONFIG_FILE).write_text(config.model_dump_json(indent=1) + "\n", encoding="utf-8")
        _put_in_place(staging, folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _unshared(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Contiguous tensors, none of which shares memory with another: safetensors refuses those."""
    seen: set[int] = set()
    own = {}
    for key, tensor in tensors.items():
        storage = tensor.untyped_storage().data_ptr()
        own[key] = tensor.clone() if storage in seen else tensor
        own[key] = own[key].contiguous()
        seen.add(storage)
    return own


def _put_in_place(staging: Path, folder: Path) -> None:
    """Rename `staging` to `folder`; an earlier folder goes only once the new one stands."""
    replaced = staging.with_suffix(".old")
    if folder.exists():
        folder.rename(replaced)
    try:
        staging.rename(folder)
    except OSError:
        if replaced.exists():
            replaced.rename(folder)
        raise
    shutil.rmtree(replaced, ignore_errors=True)


def load(folder: Path, device: torch.device) -> Hypernetwork:
    """Raises HypernetworkNotInstalled without a `hypernetwork.json`, HypernetworkInvalid when a file is missing,
    damaged, or does not fit."""
    form, config = _read(folder)
    try:
        tensors = load_file(folder / WEIGHTS_FILE)
    except (OSError, SafetensorError):
        raise HypernetworkInvalid(f"{folder.name}/{WEIGHTS_FILE} is missing, truncated or damaged.") from None
    return form.build(config, tensors, device)


def read_config(folder: Path) -> AdapterPlace:
    """Raises HypernetworkNotInstalled without a `hypernetwork.json`, HypernetworkInvalid for a bad one."""
    return _read(folder)[1]


def _read(folder: Path) -> tuple[Format, AdapterPlace]:
    try:
        found = json.loads((folder / CONFIG_FILE).read_text(encoding="utf-8"))
        form = _format_of(found)
        return form, form.config.model_validate(found)
    except (FileNotFoundError, NotADirectoryError):
        raise HypernetworkNotInstalled(f"{folder.name} holds no {CONFIG_FILE}.") from None
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "the file"
        raise HypernetworkInvalid(f"{folder.name}/{CONFIG_FILE}: {field}: {first['msg']}.") from None
    except (ValueError, RecursionError):
        raise HypernetworkInvalid(f"{folder.name}/{CONFIG_FILE} is not JSON.") from None


def _format_of(found: object) -> Format:
    """Doc-to-LoRA's folders are those that name no kind. The one place that knows of its package."""
    if not isinstance(found, dict) or "kind" in found:
        return CLOSED_FORM
    from doc_to_lora.generate import DOC_TO_LORA

    return DOC_TO_LORA


def list_installed(root: Path) -> list[Installed]:
    """Every hypernetwork below `root`, by name; folders of other kinds are left out."""
    found = []
    for folder in sorted(root.iterdir()) if root.is_dir() else []:
        if folder.name.startswith(".") or not (folder / CONFIG_FILE).is_file():
            continue
        weights = folder / WEIGHTS_FILE
        size = weights.stat().st_size if weights.is_file() else 0
        base, kind, problem = None, None, None if size else f"{WEIGHTS_FILE} is missing."
        try:
            form, config = _read(folder)
            base, kind = config.base_model_name_or_path, form.kind
        except HypernetworkInvalid as error:
            problem = error.message
        found.append(Installed(folder.name, folder, base, size, problem, kind))
    return found


def find(roots: Sequence[Path], base_model_name: str) -> Path:
    """The first folder for a base model; raises HypernetworkNotInstalled when there is none."""
    for entry in (entry for root in roots for entry in list_installed(root)):
        if entry.base_model == base_model_name and entry.problem is None:
            return entry.path
    places = " or ".join(root.name for root in roots)
    raise HypernetworkNotInstalled(
        f"No hypernetwork for {base_model_name} is installed in {places}: imprint hypernetworks measure --base "
        f"{base_model_name} --name {Path(base_model_name).name} --texts FOLDER makes one, in minutes."
    )
