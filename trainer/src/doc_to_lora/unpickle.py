"""The one place where a pickle is read: names resolve to inert stand-ins, nothing is imported (section 2.1).

Sizes are checked before anything is allocated, tensors are rebuilt from raw storages by our own code: `torch.load` is
never called.
"""

import io
import pickle
import pickletools
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import torch
from torch import Tensor

from imprint_trainer.errors import HypernetworkInvalid

MAX_PICKLE_BYTES = 4 * 2**20  # the object tree alone: names, shapes and settings, no weights


class Archive:
    """The zip container that `torch.save` writes: its entries, by their name below its single top folder."""

    def __init__(self, path: Path) -> None:
        try:
            self._zip = ZipFile(path)
        except FileNotFoundError:
            raise HypernetworkInvalid(f"There is no checkpoint at {path.name}.") from None
        except (BadZipFile, OSError, ValueError, NotImplementedError):
            raise HypernetworkInvalid(
                f"{path.name} is no checkpoint of torch.save, or is truncated: its zip directory cannot be read."
            ) from None
        try:
            self._folder = self._check(path)
        except HypernetworkInvalid:
            self._zip.close()
            raise

    def _check(self, path: Path) -> str:
        entries = self._zip.infolist()
        pickles = [entry for entry in entries if entry.filename.endswith("/data.pkl")]
        if len(pickles) != 1 or pickles[0].filename.count("/") != 1:
            raise HypernetworkInvalid(f"{path.name} is no checkpoint of torch.save: it holds no data.pkl.")
        if len({entry.filename for entry in entries}) != len(entries):
            raise HypernetworkInvalid(f"{path.name} names an entry twice.")
        # torch.save stores without compression, so entries never add up to more than the file (no zip bombs)
        if any(entry.compress_type != ZIP_STORED for entry in entries):
            raise HypernetworkInvalid(f"{path.name} is compressed, which torch.save never does.")
        if sum(entry.file_size for entry in entries) > path.stat().st_size:
            raise HypernetworkInvalid(f"{path.name} claims more bytes than it holds.")
        if pickles[0].file_size > MAX_PICKLE_BYTES:
            raise HypernetworkInvalid(f"{path.name} has a data.pkl of more than {MAX_PICKLE_BYTES} bytes.")
        return pickles[0].filename.removesuffix("data.pkl")

    def read(self, name: str, *, size: int | None = None) -> bytes:
        """An entry's bytes; `size` is what the caller expects."""
        try:
            entry = self._zip.getinfo(self._folder + name)
            if size is not None and entry.file_size != size:
                raise HypernetworkInvalid(f"Entry {name} has {entry.file_size} bytes where {size} were announced.")
            return self._zip.read(entry)
        except (KeyError, BadZipFile, OSError, EOFError, RuntimeError, NotImplementedError):
            raise HypernetworkInvalid(f"The checkpoint is damaged: entry {name} cannot be read.") from None

    def has(self, name: str) -> bool:
        return self._folder + name in self._zip.namelist()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()


ALLOWED = frozenset(
    {
        *("PROTO", "FRAME", "STOP", "MARK", "POP", "POP_MARK"),
        *("NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT"),
        *("BINUNICODE", "SHORT_BINUNICODE", "EMPTY_LIST", "APPEND", "APPENDS", "LIST"),
        *("EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "EMPTY_DICT", "DICT", "SETITEM", "SETITEMS"),
        *("EMPTY_SET", "ADDITEMS", "FROZENSET", "BINGET", "LONG_BINGET", "BINPUT", "LONG_BINPUT", "MEMOIZE"),
        *("GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD", "NEWOBJ", "BINPERSID"),
    }
)
_MEMO = frozenset({"BINPUT", "LONG_BINPUT", "BINGET", "LONG_BINGET"})


def check_opcodes(data: bytes) -> None:
    """Raise HypernetworkInvalid for an opcode outside the list, a truncated stream, or a memo index that would
    make the unpickler allocate gigabytes."""
    try:
        for opcode, argument, _ in pickletools.genops(data):
            if opcode.name not in ALLOWED:
                raise HypernetworkInvalid(f"The checkpoint's pickle uses {opcode.name}, which torch.save never writes.")
            if opcode.name in _MEMO and isinstance(argument, int) and argument > len(data):
                raise HypernetworkInvalid("The checkpoint's pickle is hostile: its memo index is out of bounds.")
    except HypernetworkInvalid:
        raise
    except Exception as error:  # genops raises whatever its argument readers do
        raise HypernetworkInvalid(f"The checkpoint's pickle is truncated or damaged: {error}.") from None


STORAGE_DTYPES = {
    "DoubleStorage": torch.float64,
    "FloatStorage": torch.float32,
    "HalfStorage": torch.float16,
    "BFloat16Storage": torch.bfloat16,
    "LongStorage": torch.int64,
    "IntStorage": torch.int32,
    "ShortStorage": torch.int16,
    "CharStorage": torch.int8,
    "ByteStorage": torch.uint8,
    "BoolStorage": torch.bool,
}


@dataclass(frozen=True)
class StorageType:
    """Stands for `torch.FloatStorage` and its kind."""

    dtype: torch.dtype


class StorageReader:
    """Storages of one archive; each is read once, however many tensors view it."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._read: dict[str, Tensor] = {}

    def storage(self, reference: Any) -> Tensor:
        """The flat tensor behind a persistent id ("storage", type, key, location, number of elements)."""
        match reference:
            case ("storage", StorageType(dtype), str(key), str(), int(count)) if key.isalnum() and count >= 0:
                pass
            case _:
                raise HypernetworkInvalid("The checkpoint's pickle refers to something that is no tensor storage.")
        if key not in self._read:
            data = self._archive.read(f"data/{key}", size=count * dtype.itemsize)
            self._read[key] = torch.frombuffer(bytearray(data), dtype=dtype) if count else torch.empty(0, dtype=dtype)
        flat = self._read[key]
        if flat.dtype != dtype or flat.numel() != count:
            raise HypernetworkInvalid(f"Storage {key} is announced with two types or sizes.")
        return flat


def rebuild_tensor(flat: Any, offset: Any, size: Any, stride: Any, *_: Any) -> Tensor:
    """What `torch._utils._rebuild_tensor_v2` does, within the bounds of the storage."""
    numbers = (offset, *size, *stride) if isinstance(size, tuple) and isinstance(stride, tuple) else (None,)
    if not isinstance(flat, Tensor) or any(type(n) is not int or n < 0 for n in numbers) or len(size) != len(stride):
        raise HypernetworkInvalid("The checkpoint's pickle describes a malformed tensor.")
    count = 1
    for length in size:
        count *= length
    last = offset + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
    if count > flat.numel() or (count and last >= flat.numel()):
        raise HypernetworkInvalid("The checkpoint's pickle describes a tensor that reaches outside its storage.")
    return flat.as_strided(size, stride, offset)


def rebuild_parameter(tensor: Any, *_: Any) -> Tensor:
    """What `torch._utils._rebuild_parameter` does, without making a parameter."""
    if not isinstance(tensor, Tensor):
        raise HypernetworkInvalid("The checkpoint's pickle describes a malformed parameter.")
    return tensor


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
