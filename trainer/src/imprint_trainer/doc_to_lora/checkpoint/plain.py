"""Unpickled settings as plain JSON values, and the flat dict split into tensors and settings (section 2.1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from imprint_trainer.doc_to_lora.checkpoint.unpickle import Settings
from imprint_trainer.errors import HypernetworkInvalid

_MAX_DEPTH = 16
_MAX_NODES = 100_000
_MAX_INDICES = 4096  # layer_indices is the only tensor among the settings
_COMPILE_PREFIX = "_orig_mod."


@dataclass(frozen=True)
class RawCheckpoint:
    """A checkpoint before interpretation: tensors by key, settings under the reference's field names."""

    tensors: dict[str, Tensor]
    base_model_name_or_path: str
    hypernet_config: dict[str, Any]
    ctx_encoder_args: dict[str, Any]


def plain(value: object) -> Any:
    """Settings, sets, tuples and index tensors -> dicts and lists of JSON scalars.

    Raises HypernetworkInvalid for everything else, and for trees that are deep or large: a few bytes of pickle can
    unfold without end.
    """
    budget = iter(range(_MAX_NODES))

    def visit(node: object, depth: int) -> Any:
        if depth > _MAX_DEPTH or next(budget, None) is None:
            raise HypernetworkInvalid("The checkpoint's settings are nested too deeply or too large.")
        match node:
            case None | bool() | int() | float() | str():
                return node
            case Settings():
                return visit(vars(node), depth + 1)
            case dict():
                return {_text(key): visit(item, depth + 1) for key, item in node.items()}
            case set() | frozenset():
                return sorted(_text(item) for item in node)
            case list() | tuple():
                return [visit(item, depth + 1) for item in node]
            case Tensor() if node.numel() <= _MAX_INDICES:
                return visit(node.tolist(), depth + 1)
        raise HypernetworkInvalid(f"The checkpoint's settings hold a {type(node).__name__}.")

    return visit(value, 0)


def split_flat_dict(root: object) -> RawCheckpoint:
    """The one flat dict of a checkpoint; `torch.compile`'s prefix is stripped from its keys."""
    if not isinstance(root, dict) or not all(isinstance(key, str) for key in root):
        raise HypernetworkInvalid("The checkpoint is not one flat dict of named tensors.")
    settings = {key: plain(item) for key, item in root.items() if not isinstance(item, Tensor)}
    base = settings.pop("base_model_name_or_path", None)
    hypernet = settings.pop("hypernet_config", None)
    encoder = settings.pop("ctx_encoder_args", None)
    if not isinstance(base, str) or not isinstance(hypernet, dict) or not isinstance(encoder, dict):
        raise HypernetworkInvalid(
            "The checkpoint is no Doc-to-LoRA checkpoint: it lacks base_model_name_or_path, hypernet_config "
            "or ctx_encoder_args."
        )
    if settings:
        raise HypernetworkInvalid(f"The checkpoint holds {sorted(settings)[0]!r}, which is no tensor.")
    tensors = {key: item for key, item in root.items() if isinstance(item, Tensor)}
    return RawCheckpoint(strip_compile_prefix(tensors), base, hypernet, encoder)


def strip_compile_prefix(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Keys without the `_orig_mod.` that `torch.compile` puts into them."""
    stripped = {key.replace(_COMPILE_PREFIX, ""): tensor for key, tensor in tensors.items()}
    if len(stripped) != len(tensors):
        raise HypernetworkInvalid("Two of the checkpoint's tensors have the same name.")
    return stripped


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise HypernetworkInvalid("The checkpoint's settings name something that is no text.")
    return value
