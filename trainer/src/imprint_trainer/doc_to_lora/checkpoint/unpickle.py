"""The one place where a pickle is read: names resolve to inert stand-ins, nothing is imported (section 2.1)."""

import io
import pickle
from collections import OrderedDict
from typing import Any

from torch import Tensor

from imprint_trainer.doc_to_lora.checkpoint.archive import Archive
from imprint_trainer.doc_to_lora.checkpoint.opcodes import check_opcodes
from imprint_trainer.doc_to_lora.checkpoint.storages import (
    STORAGE_DTYPES,
    StorageReader,
    StorageType,
    rebuild_parameter,
    rebuild_tensor,
)
from imprint_trainer.errors import HypernetworkInvalid

# Both spellings of the reference's modules: older files say ctx_to_lora.modeling_utils
_REFERENCE_MODULES = (
    "ctx_to_lora.modeling_utils",
    "ctx_to_lora.modeling.hypernet",
    "ctx_to_lora.modeling.aggregator",
    "ctx_to_lora.configs",
    "ctx_to_lora.pooling",
)
_REFERENCE_OBJECTS = ("HypernetConfig", "AggregatorConfig", "CtxEncoderArguments")
_REFERENCE_ENUMS = ("AGGREGATOR_TYPE", "POOL_FN", "CTX_ENCODER_TYPE")
_PEFT_OBJECTS = ("LoraConfig", "LoraRuntimeConfig")
_PEFT_ENUMS = ("PeftType", "TaskType")


class Settings:
    """Base of the stand-ins for the configuration objects of ctx_to_lora and peft: holds what the pickle fills in."""


def _allowed() -> dict[tuple[str, str], Any]:
    """Every global a checkpoint may name; made for each file, since a pickle may write onto the stand-ins."""
    objects = [(m, n) for m in _REFERENCE_MODULES for n in _REFERENCE_OBJECTS]
    objects += [("peft.tuners.lora.config", n) for n in _PEFT_OBJECTS]
    enums = [(m, n) for m in _REFERENCE_MODULES for n in _REFERENCE_ENUMS]
    enums += [("peft.utils.peft_types", n) for n in _PEFT_ENUMS]
    return {
        **{name: type(name[1], (Settings,), {}) for name in objects},
        **{name: (lambda value: value) for name in enums},
        **{("torch", name): StorageType(dtype) for name, dtype in STORAGE_DTYPES.items()},
        ("torch._utils", "_rebuild_tensor_v2"): lambda *args: rebuild_tensor(*args),
        ("torch._utils", "_rebuild_parameter"): lambda *args: rebuild_parameter(*args),
        ("__builtin__", "set"): set,
        ("builtins", "set"): set,
        ("collections", "OrderedDict"): OrderedDict,
    }


class _AllowListUnpickler(pickle.Unpickler):
    def __init__(self, data: bytes, storages: StorageReader) -> None:
        super().__init__(io.BytesIO(data))
        self._globals = _allowed()
        self._storages = storages

    def find_class(self, module: str, name: str) -> Any:
        try:
            return self._globals[module, name]
        except KeyError:
            raise HypernetworkInvalid(
                f"The checkpoint's pickle names {module}.{name}, which no hypernetwork needs: it was not run."
            ) from None

    def persistent_load(self, reference: Any) -> Tensor:
        return self._storages.storage(reference)


def unpickle(archive: Archive) -> object:
    """The object tree of a checkpoint: dicts, lists, sets, numbers, text, CPU tensors and `Settings`.

    Raises HypernetworkInvalid for anything outside the allow-list and for damaged data.
    """
    data = archive.read("data.pkl")
    if archive.has("byteorder") and archive.read("byteorder") != b"little":
        raise HypernetworkInvalid("The checkpoint was written on a big-endian machine.")
    check_opcodes(data)
    try:
        return _AllowListUnpickler(data, StorageReader(archive)).load()
    except HypernetworkInvalid:
        raise
    except Exception as error:  # a damaged stream raises nearly anything
        raise HypernetworkInvalid(
            f"The checkpoint's pickle is damaged ({type(error).__name__}) and cannot be read."
        ) from None
