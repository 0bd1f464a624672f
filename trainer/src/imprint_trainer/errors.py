"""Every way a training can be refused or fail, named for what happened.

Codes and hints equal those of `packages/contracts/src/errors.ts` (a test compares them). Each class also inherits the
standard error it replaces, so that callers who know nothing of Imprint can still catch it.
"""

import errno
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

# ruff: noqa: N818  the classes are named for what happened


class TrainerError(Exception):
    """A failure with a catalogue code, a sentence about this case and a hint that says what to do."""

    code: ClassVar[str] = "TRAINER_ERROR"
    hint: ClassVar[str] = "The service's log holds the trace."

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    @property
    def told(self) -> str:
        """Message and hint, as sentences."""
        return f"{self.message.rstrip('.')}. {self.hint}"


class SessionInvalid(TrainerError, ValueError):
    code = "SESSION_INVALID"
    hint = "Import the session again from its source."


class SessionUnsuccessful(TrainerError, ValueError):
    code = "SESSION_UNSUCCESSFUL"
    hint = "Set include_unsuccessful to train on it all the same, or label it with imprint label."


class NothingToTrain(TrainerError, ValueError):
    code = "NOTHING_TO_TRAIN"
    hint = "Train on another session (imprint sessions lists them), or choose other turns with train_on."


class NothingToEvaluate(TrainerError, ValueError):
    code = "NOTHING_TO_EVALUATE"
    hint = "Import a later session of the same work, or name some in session_ids."


class NothingHeldOut(TrainerError, ValueError):
    code = "NOTHING_HELD_OUT"
    hint = "Name more or longer sessions, or a larger part of them in holdout."


class TemplateUnsupported(TrainerError, ValueError):
    code = "TEMPLATE_UNSUPPORTED"
    hint = "Choose a base model whose chat template renders the conversation turn by turn."


class BaseModelNotFound(TrainerError, FileNotFoundError):
    code = "BASE_MODEL_NOT_FOUND"
    hint = "imprint models lists those that are here and those that are known; imprint models pull NAME fetches one."


class DownloadFailed(TrainerError, ConnectionError):
    code = "DOWNLOAD_FAILED"
    hint = "Pulling again goes on with what was fetched."


class BaseModelUnsafe(TrainerError, PermissionError):
    code = "BASE_MODEL_UNSAFE"
    hint = "Use a model in safetensors without remote code, pickles or a bundled adapter."


class BaseModelInvalid(TrainerError, ValueError):
    code = "BASE_MODEL_INVALID"
    hint = "Check the folder: config.json, tokenizer files and *.safetensors of a causal language model."


class BaseModelUnsupported(TrainerError, NotImplementedError):
    code = "BASE_MODEL_UNSUPPORTED"
    hint = "Choose another base model: what is trained, or its proof, would be wrong for this one."


class TargetModulesNotFound(TrainerError, LookupError):
    code = "TARGET_MODULES_NOT_FOUND"
    hint = "Leave target_modules out, or name linear layers of the base model."


class PromptRefused(TrainerError, ValueError):
    code = "PROMPT_REFUSED"
    hint = "Leave out what the engine or the base's chat template cannot do."


class ContextLengthExceeded(TrainerError, ValueError):
    code = "CONTEXT_LENGTH_EXCEEDED"
    hint = "Shorten the messages or the tools, or choose a base model with a longer context."


class HypernetworkNotInstalled(TrainerError, FileNotFoundError):
    code = "HYPERNETWORK_NOT_INSTALLED"
    hint = "POST /train/lora works without one; imprint hypernetworks lists those installed."


class HypernetworkInvalid(TrainerError, ValueError):
    code = "HYPERNETWORK_INVALID"
    hint = "Convert the checkpoint again, for the base model it was trained for."


class AdapterUnchanged(TrainerError, ArithmeticError):
    code = "ADAPTER_UNCHANGED"
    hint = "Raise the learning rate or the number of epochs."


class AdapterNotFinite(TrainerError, ArithmeticError):
    code = "ADAPTER_NOT_FINITE"
    hint = "Lower the learning rate."


class AdapterInvalid(TrainerError, ValueError):
    code = "ADAPTER_INVALID"
    hint = "Train a registered one again, or put its files back; a new one is a fault of the trainer: please report it."


class ExportUnsupported(TrainerError, ValueError):
    code = "EXPORT_UNSUPPORTED"
    hint = "Choose another format: docs/serving.md says what each one takes."


class CheckpointInvalid(TrainerError, ValueError):
    code = "CHECKPOINT_INVALID"
    hint = "Start the training anew."


class CheckpointMismatch(TrainerError, ValueError):
    code = "CHECKPOINT_MISMATCH"
    hint = "Bring back the sessions and the base model that it was made with, or start the training anew."


class OutOfMemory(TrainerError, MemoryError):
    code = "OUT_OF_MEMORY"
    hint = (
        "Lower max_length or rank, use quantization nf4, or close other programs: imprint doctor --plan says what fits."
    )


class TimeTooShort(TrainerError, TimeoutError):
    code = "TIME_TOO_SHORT"
    hint = "Allow more time, or train on less."


class DiskFull(TrainerError, OSError):
    code = "DISK_FULL"
    hint = "Free space on the disk of the data directory, and try again."


class FilesDenied(TrainerError, PermissionError):
    code = "FILES_DENIED"
    hint = "Let the service's user read and write the data directory and all in it; the service's log names the file."


class Cancelled(Exception):
    """The job or chat was cancelled: an event of its own, not an error of the catalogue."""


ALLOCATOR_WORDS = ("out of memory", "not enough memory", "can't allocate memory", "DefaultCPUAllocator")
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
IS_FORBIDDEN = "permission is denied"
DENIED = {errno.EROFS: "the file system is read-only", errno.EACCES: IS_FORBIDDEN, errno.EPERM: IS_FORBIDDEN}
OS_ERROR = re.compile(r"\(os error (\d+)\)")  # how safetensors tells an errno
CUT_SHORT = re.compile(r"^\d+ requested and \d+ written$")  # numpy's tofile, which forgets the errno


@contextmanager
def machine_failures() -> Iterator[None]:
    """Raises OutOfMemory, DiskFull and FilesDenied in place of what torch, safetensors and the system say, in the
    sentences of the service's `asImprintError`; stderr names the file."""
    try:
        yield
    except TrainerError:
        raise
    except MemoryError as error:
        raise OutOfMemory(_sentence(error, "memory ran out")) from error
    except Exception as error:
        number = _errno(error)
        if number == errno.ENOMEM:
            raise OutOfMemory("memory ran out") from error
        if number in FULL:
            raise DiskFull(f"The disk of the data directory is full ({errno.errorcode[number]}).") from error
        if number in DENIED:
            print(error, file=sys.stderr)
            said = f"The trainer may not use a file: {DENIED[number]} ({errno.errorcode[number]})."
            raise FilesDenied(said) from error
        if any(word in str(error) for word in ALLOCATOR_WORDS):
            raise OutOfMemory(_sentence(error, "memory ran out")) from error
        raise


def _errno(error: Exception) -> int:
    """0 for what is no failure of the system."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    if isinstance(error, OSError) and CUT_SHORT.match(str(error)):
        return errno.ENOSPC
    found = OS_ERROR.search(str(error))
    return int(found[1]) if found else 0


def _sentence(error: BaseException, otherwise: str) -> str:
    return (str(error).strip().splitlines() or [otherwise])[0][:200]
