"""Tensors rebuilt from raw storages on the CPU, by our own code: `torch.load` is never called."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from imprint_trainer.doc_to_lora.checkpoint.archive import Archive
from imprint_trainer.errors import HypernetworkInvalid

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
