"""Recognises the failures of a machine, whatever they are called."""

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from imprint_trainer.errors import DiskFull, OutOfMemory, TrainerError

ALLOCATOR_WORDS = ("out of memory", "not enough memory", "can't allocate memory", "DefaultCPUAllocator")
DISK_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
DISK_WORDS = ("No space left on device", "Disk quota exceeded", "File too large")
DISK_FULL = "the disk ran full while the files were written"
CUT_SHORT = re.compile(r"^\d+ requested and \d+ written$")  # numpy's tofile, which forgets the errno


@contextmanager
def machine_failures() -> Iterator[None]:
    """Raises OutOfMemory and DiskFull in place of what torch, safetensors and the system say."""
    try:
        yield
    except TrainerError:
        raise
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise OutOfMemory(_sentence(error, "memory ran out")) from error
    except OSError as error:
        if error.errno in DISK_ERRNOS or CUT_SHORT.match(str(error)):
            raise DiskFull(DISK_FULL) from error
        if error.errno == errno.ENOMEM:
            raise OutOfMemory("memory ran out") from error
        raise
    except Exception as error:
        if any(word in str(error) for word in ALLOCATOR_WORDS):
            raise OutOfMemory(_sentence(error, "memory ran out")) from error
        if any(word in str(error) for word in DISK_WORDS):
            raise DiskFull(DISK_FULL) from error
        raise


def _sentence(error: BaseException, otherwise: str) -> str:
    return (str(error).strip().splitlines() or [otherwise])[0][:200]
