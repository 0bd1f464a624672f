import errno
from pathlib import Path

import numpy as np
import pytest
import torch

from imprint_trainer.errors import DiskFull, OutOfMemory, SessionInvalid, machine_failures


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("CUDA error: out of memory"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
    ],
)
def test_running_out_of_memory_is_recognised(error: Exception) -> None:
    with pytest.raises(OutOfMemory), machine_failures():
        raise error


def test_the_cpu_allocator_of_this_torch_is_recognised() -> None:
    with pytest.raises(OutOfMemory), machine_failures():
        torch.empty(2**56, dtype=torch.uint8)


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        OSError(errno.EFBIG, "File too large"),
        RuntimeError("I/O error: No space left on device (os error 28)"),
    ],
)
def test_a_full_disk_is_recognised(error: Exception) -> None:
    with pytest.raises(DiskFull), machine_failures():
        raise error


def test_a_tensor_that_a_full_disk_cuts_short_is_recognised() -> None:
    with pytest.raises(DiskFull), machine_failures(), Path("/dev/full").open("wb", buffering=0) as full:
        np.zeros(1024, dtype=np.float32).tofile(full)


@pytest.mark.parametrize(
    "error", [ValueError("other"), SessionInvalid("out of memory in its text"), OSError(errno.EACCES, "no")]
)
def test_anything_else_passes(error: Exception) -> None:
    with pytest.raises(type(error)) as raised, machine_failures():
        raise error
    assert raised.value is error
