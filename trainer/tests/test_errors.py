import errno
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from imprint_trainer import errors
from imprint_trainer.errors import DiskFull, FilesDenied, OutOfMemory, SessionInvalid, machine_failures

CATALOGUE = Path(__file__).parents[2] / "packages" / "contracts" / "src" / "errors.ts"
ENTRY = re.compile(r'([A-Z_]+): \[\s*(?:\d+|null),\s*"[^"]*",\s*"([^"]*)",?\s*\]')

CLASSES = [error for _, error in inspect.getmembers(errors, inspect.isclass) if issubclass(error, errors.TrainerError)]


def hints() -> dict[str, str]:
    return dict(ENTRY.findall(CATALOGUE.read_text(encoding="utf-8")))


@pytest.mark.parametrize("error", CLASSES, ids=lambda error: error.code)
def test_code_and_hint_are_those_of_the_catalogue(error: type[errors.TrainerError]) -> None:
    assert error.hint == hints()[error.code]


def test_each_code_has_one_class() -> None:
    codes = [error.code for error in CLASSES]
    assert len(codes) == 27
    assert sorted(codes) == sorted(set(codes))


@pytest.mark.parametrize("error", CLASSES, ids=lambda error: error.code)
def test_the_message_is_kept_as_written(error: type[errors.TrainerError]) -> None:
    raised = error("the session has no steps")
    assert raised.message == str(raised) == "the session has no steps"


def test_a_refusal_is_also_the_standard_error_it_replaces() -> None:
    assert issubclass(errors.NothingToTrain, ValueError)
    assert issubclass(errors.BaseModelNotFound, FileNotFoundError)
    assert issubclass(errors.OutOfMemory, MemoryError)
    assert not issubclass(errors.Cancelled, errors.TrainerError)


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
    sentence = r"^The disk of the data directory is full \((ENOSPC|EDQUOT|EFBIG)\)\.$"
    with pytest.raises(DiskFull, match=sentence), machine_failures():
        raise error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.EROFS, "Read-only file system", "/data/x"), "the file system is read-only (EROFS)"),
        (PermissionError(errno.EACCES, "Permission denied", "/data/x"), "permission is denied (EACCES)"),
        (PermissionError(errno.EPERM, "Operation not permitted", "/data/x"), "permission is denied (EPERM)"),
        (RuntimeError("I/O error: Permission denied (os error 13)"), "permission is denied (EACCES)"),
    ],
)
def test_files_that_may_not_be_used_are_a_sentence_and_their_name_is_for_the_log(
    error: Exception, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(FilesDenied) as raised, machine_failures():
        raise error
    assert raised.value.message == f"The trainer may not use a file: {said}."
    assert capsys.readouterr().err == f"{error}\n"


def test_the_sentences_are_those_of_the_service() -> None:
    service = (CATALOGUE.parents[2] / "server" / "src" / "common" / "error.ts").read_text(encoding="utf-8")
    assert "`The disk of the data directory is full (${code}).`" in service
    assert "`The service may not use a file: ${denied} (${code}).`" in service
    assert all(f'"{words}"' in service for words in errors.DENIED.values())


def test_a_tensor_that_a_full_disk_cuts_short_is_recognised() -> None:
    with pytest.raises(DiskFull), machine_failures(), Path("/dev/full").open("wb", buffering=0) as full:
        np.zeros(1024, dtype=np.float32).tofile(full)


@pytest.mark.parametrize(
    "error", [ValueError("other"), SessionInvalid("out of memory in its text"), OSError(errno.EIO, "no")]
)
def test_anything_else_passes(error: Exception) -> None:
    with pytest.raises(type(error)) as raised, machine_failures():
        raise error
    assert raised.value is error
