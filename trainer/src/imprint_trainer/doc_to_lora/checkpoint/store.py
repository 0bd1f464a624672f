"""Converted hypernetworks on disk: a folder with `hypernetwork.json` and `model.safetensors`."""

import json
import shutil
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from imprint_trainer.doc_to_lora.checkpoint.build import build, check_tensors
from imprint_trainer.doc_to_lora.config import HypernetworkConfig
from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.doc_to_lora.ridge.config import RidgeConfig
from imprint_trainer.doc_to_lora.ridge.statistics import from_tensors
from imprint_trainer.errors import HypernetworkInvalid, HypernetworkNotInstalled

CONFIG_FILE = "hypernetwork.json"
WEIGHTS_FILE = "model.safetensors"

Config = HypernetworkConfig | RidgeConfig
Kind = Literal["perceiver", "ridge"]


@dataclass(frozen=True)
class Installed:
    """A hypernetwork found in a folder; `problem` says why it cannot be used."""

    name: str
    path: Path
    base_model: str | None
    size: int  # bytes of the weights
    problem: str | None
    kind: Kind | None


def save(config: Config, tensors: Mapping[str, Tensor], folder: Path) -> None:
    """Write a folder as a whole or not at all; an earlier hypernetwork of the same name is replaced.

    Raises HypernetworkInvalid for tensors that do not fit, and for a folder that holds something else.
    """
    if isinstance(config, RidgeConfig):
        from_tensors(tensors, config)
    else:
        check_tensors(tensors, config)
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


def read_config(folder: Path) -> Config:
    """Raises HypernetworkNotInstalled without a `hypernetwork.json`, HypernetworkInvalid for a bad one."""
    try:
        text = (folder / CONFIG_FILE).read_text(encoding="utf-8")
        found = json.loads(text)
        is_ridge = isinstance(found, dict) and found.get("kind") == "ridge"
        return (RidgeConfig if is_ridge else HypernetworkConfig).model_validate(found)
    except (FileNotFoundError, NotADirectoryError):
        raise HypernetworkNotInstalled(f"{folder.name} holds no {CONFIG_FILE}.") from None
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "the file"
        raise HypernetworkInvalid(f"{folder.name}/{CONFIG_FILE}: {field}: {first['msg']}.") from None
    except (ValueError, RecursionError):
        raise HypernetworkInvalid(f"{folder.name}/{CONFIG_FILE} is not JSON.") from None


def load(folder: Path, *, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32) -> Hypernetwork:
    """A converted hypernetwork, frozen; raises HypernetworkInvalid when a file is missing, damaged, of another kind or
    does not fit."""
    config = read_config(folder)
    if isinstance(config, RidgeConfig):
        raise HypernetworkInvalid(f"{folder.name} is a ridge hypernetwork, which has no Perceiver: name another one.")
    try:
        tensors = load_file(folder / WEIGHTS_FILE)
    except (OSError, SafetensorError):
        raise HypernetworkInvalid(f"{folder.name}/{WEIGHTS_FILE} is missing, truncated or damaged.") from None
    return build(config, tensors, device=device, dtype=dtype)


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
            config = read_config(folder)
            base, kind = config.base_model_name_or_path, kind_of(config)
        except HypernetworkInvalid as error:
            problem = error.message
        found.append(Installed(folder.name, folder, base, size, problem, kind))
    return found


def kind_of(config: Config) -> Kind:
    return "ridge" if isinstance(config, RidgeConfig) else "perceiver"


def find(roots: Sequence[Path], base_model_name: str) -> dict[Kind, Path]:
    """The first folder of each kind for a base model, at least one; raises HypernetworkNotInstalled when there is
    none."""
    found: dict[Kind, Path] = {}
    for entry in (entry for root in roots for entry in list_installed(root)):
        if entry.base_model == base_model_name and entry.problem is None and entry.kind is not None:
            found.setdefault(entry.kind, entry.path)
    if found:
        return found
    places = " or ".join(root.name for root in roots)
    raise HypernetworkNotInstalled(f"No hypernetwork for {base_model_name} is installed in {places}.")
