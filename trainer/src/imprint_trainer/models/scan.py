"""What a base model's folder must not hold: anything that would run as code when it is loaded."""

import json
from pathlib import Path
from typing import Any

from imprint_trainer.errors import BaseModelInvalid, BaseModelUnsafe

CODE_KEYS = frozenset({"auto_map", "custom_code", "_attn_implementation_internal", "model_file", "trust_remote_code"})
KERNEL_KEYS = frozenset({"attn_implementation", "experts_implementation"})  # with or without an underscore
PICKLES = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".msgpack", ".h5")
SCANNED = ("config.json", "tokenizer_config.json", "generation_config.json", "processor_config.json")
MAX_JSON_BYTES = 64 * 2**20


def read_json(path: Path) -> Any:
    """Raises BaseModelInvalid where the file is no JSON or unreasonably large."""
    try:
        if path.stat().st_size > MAX_JSON_BYTES:
            raise BaseModelInvalid(f"{path.name} is larger than {MAX_JSON_BYTES} bytes")
        return json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise BaseModelInvalid(f"{path.name} is not JSON: {error}") from error


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


def refuse_unsafe(folder: Path) -> None:
    """Raises BaseModelUnsafe for code, adapters and weights in pickles only, BaseModelInvalid without weights."""
    if not (folder / "config.json").is_file():
        raise BaseModelInvalid(f"{folder.name} holds no config.json")
    names = sorted(path.name for path in folder.iterdir())
    if scripts := [name for name in names if name.endswith((".py", ".pyc", ".so"))]:
        raise BaseModelUnsafe(f"{folder.name} holds code ({scripts[0]})")
    if "adapter_config.json" in names:
        raise BaseModelUnsafe(
            f"{folder.name} holds adapter_config.json: a bundled adapter would be loaded with the base model"
        )
    for name in SCANNED:
        if name in names and (keys := code_keys(read_json(folder / name))):
            raise BaseModelUnsafe(f"{name} of {folder.name} names code to run ({', '.join(keys)})")
    if not any(name.endswith(".safetensors") for name in names):
        if any(name.endswith(PICKLES) for name in names):
            raise BaseModelUnsafe(f"{folder.name} holds only pickled weights; convert them to safetensors")
        raise BaseModelInvalid(f"{folder.name} holds no *.safetensors")
