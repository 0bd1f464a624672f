"""From a path or hub id to a folder that holds nothing that runs as code, and what is read without its weights."""

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imprint_trainer.errors import BaseModelInvalid, BaseModelNotFound, BaseModelUnsafe
from imprint_trainer.models.marks import without_unlearned_marks

CODE_KEYS = frozenset({"auto_map", "custom_code", "_attn_implementation_internal", "model_file", "trust_remote_code"})
KERNEL_KEYS = frozenset({"attn_implementation", "experts_implementation"})  # with or without an underscore
PICKLES = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".msgpack", ".h5")
SCANNED = ("config.json", "tokenizer_config.json", "generation_config.json", "processor_config.json")
MAX_JSON_BYTES = 64 * 2**20

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
SAFE_FILES = [
    "*.safetensors",
    "*.safetensors.index.json",
    "*.json",
    "*.jinja",
    "tokenizer.model",
    "merges.txt",
    "vocab.txt",
    "README.md",  # names the licence
]
# The same weights once more, for other programs and in other formats.
UNREAD_FILES = ["consolidated*", "*/*", "*.fp16*", "*.fp32*", "*.bf16*"]


@dataclass(frozen=True)
class Located:
    folder: Path
    revision: str | None  # commit of a hub model


def locate_base(path_or_hub_id: str) -> Located:
    """The folder of a base model, checked for code and pickles. Raises BaseModelNotFound, BaseModelUnsafe,
    BaseModelInvalid."""
    path = Path(path_or_hub_id).expanduser()
    if path.is_dir():
        folder, revision = path.resolve(), None
    elif is_hub_id(path_or_hub_id):
        kept = kept_of_hub(path_or_hub_id)
        if kept is None:
            why = (
                "" if downloads_allowed() else ", and downloads are not allowed (IMPRINT_ALLOW_DOWNLOADS=1 allows them)"
            )
            raise BaseModelNotFound(f"{path_or_hub_id} is not on this machine{why}")
        folder, revision = kept, kept.name if re.fullmatch(r"[0-9a-f]{40}", kept.name) else None
    else:
        raise BaseModelNotFound(f"{path.name or path_or_hub_id} is neither a folder nor a hub id owner/name")
    refuse_unsafe(folder)
    return Located(folder, revision)


def is_hub_id(text: str) -> bool:
    return HUB_ID.fullmatch(text) is not None and not Path(text).is_dir()


def kept_of_hub(repo_id: str) -> Path | None:
    """A model of the hub that is here as a whole, as it is: imprint models pull looks for a newer one."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return Path(
            snapshot_download(repo_id, allow_patterns=SAFE_FILES, ignore_patterns=UNREAD_FILES, local_files_only=True)
        )
    except LocalEntryNotFoundError:
        return None


def downloads_allowed() -> bool:
    return os.environ.get("IMPRINT_ALLOW_DOWNLOADS") == "1"


def model_config(folder: Path) -> Any:
    """Of transformers. Raises BaseModelInvalid."""
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # each family checks its values in its own way
        raise BaseModelInvalid(f"config.json of {folder.name} cannot be read") from error


def tokenizer_of(base_model: str) -> Any:
    """The tokenizer of a path or hub id. Raises BaseModelNotFound too."""
    return load_tokenizer(locate_base(base_model).folder)


def load_tokenizer(folder: Path) -> Any:
    """Raises BaseModelUnsafe, BaseModelInvalid. A tokenizer is not shared between threads: each loads its own."""
    from transformers import AutoTokenizer

    refuse_unsafe(folder)
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        raise BaseModelInvalid(f"the tokenizer of {folder.name} cannot be loaded: {type(error).__name__}") from error
    if not tokenizer.is_fast:
        raise BaseModelInvalid(f"{folder.name} has no tokenizer.json")
    return without_unlearned_marks(tokenizer, folder)


def refuse_unsafe(folder: Path, names: Iterable[str] | None = None) -> None:
    """Raises BaseModelUnsafe for code, adapters and weights in pickles only, BaseModelInvalid without weights. `names`:
    of a model's files, of which the folder holds those that are scanned alone."""
    if not (folder / "config.json").is_file():
        raise BaseModelInvalid(f"{folder.name} holds no config.json")
    names = sorted(names or (path.name for path in folder.iterdir()))
    if scripts := [name for name in names if name.endswith((".py", ".pyc", ".so"))]:
        raise BaseModelUnsafe(f"{folder.name} holds code ({scripts[0]})")
    if "adapter_config.json" in names:
        raise BaseModelUnsafe(
            f"{folder.name} holds adapter_config.json: a bundled adapter would be loaded with the base model"
        )
    for name in SCANNED:
        if name in names and (keys := code_keys(without_own_classes(name, read_json(folder / name)))):
            raise BaseModelUnsafe(f"{name} of {folder.name} names code to run ({', '.join(keys)})")
    if not any(name.endswith(".safetensors") for name in names):
        if any(name.endswith(PICKLES) for name in names):
            raise BaseModelUnsafe(f"{folder.name} holds only pickled weights; convert them to safetensors")
        raise BaseModelInvalid(f"{folder.name} holds no *.safetensors")


def without_own_classes(name: str, config: Any) -> Any:
    """Without the `auto_map` of a family that transformers has: its own class is loaded, and no code is run."""
    if not isinstance(config, dict) or not config.get("auto_map"):
        return config
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    )
    from transformers.models.auto.tokenization_auto import tokenizer_class_from_name

    if name == "config.json":
        family = str(config.get("model_type"))
        own = family in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES or family in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
    else:
        tokenizer = str(config.get("tokenizer_class"))
        own = name == "tokenizer_config.json" and hasattr(tokenizer_class_from_name(tokenizer), "from_pretrained")
    return {key: value for key, value in config.items() if key != "auto_map"} if own else config


def code_keys(value: Any) -> list[str]:
    """Keys at any depth that name code to be run, kernels of the hub (owner/name) included; a `trust_remote_code` that
    is false is harmless."""
    found: list[str] = []
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            found += [key for key, inner in item.items() if names_code(key, inner)]
            stack += item.values()
        elif isinstance(item, list):
            stack += item
    return sorted(set(found))


def names_code(key: str, value: Any) -> bool:
    if key.lstrip("_") in KERNEL_KEYS:
        return "/" in json.dumps(value)
    return key in CODE_KEYS and value not in (None, False)


def read_json(path: Path) -> Any:
    """Raises BaseModelInvalid where the file is no JSON or unreasonably large."""
    try:
        if path.stat().st_size > MAX_JSON_BYTES:
            raise BaseModelInvalid(f"{path.name} is larger than {MAX_JSON_BYTES} bytes")
        return json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise BaseModelInvalid(f"{path.name} is not JSON: {error}") from error
