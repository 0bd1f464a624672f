"""Recognises the failures of a machine, whatever they are called."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from imprint_trainer.errors import DiskFull, OutOfMemory, TrainerError

ALLOCATOR_WORDS = ("out of memory", "not enough memory", "can't allocate memory", "DefaultCPUAllocator")
DISK_WORDS = ("No space left on device", "Disk quota exceeded")


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
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull("the disk ran full while the adapter was written") from error
        if error.errno == errno.ENOMEM:
            raise OutOfMemory("memory ran out") from error
        raise
    except Exception as error:
        if any(word in str(error) for word in ALLOCATOR_WORDS):
            raise OutOfMemory(_sentence(error, "memory ran out")) from error
        if any(word in str(error) for word in DISK_WORDS):
            raise DiskFull("the disk ran full while the adapter was written") from error
        raise


def _sentence(error: BaseException, otherwise: str) -> str:
    return (str(error).strip().splitlines() or [otherwise])[0][:200]
