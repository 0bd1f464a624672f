"""A base model from the model hub, into the hub library's own cache, where other programs find it too."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from imprint_trainer.bases.progress import Progress, meter, require_room, size
from imprint_trainer.errors import BaseModelInvalid, BaseModelUnsafe, DownloadFailed, TrainerError
from imprint_trainer.files import sha256_of
from imprint_trainer.models.locate import SAFE_FILES, code_keys, read_json, refuse_unsafe
from imprint_trainer.models.memory import refuse_experts


def pull_hub(repo_id: str, progress: Progress) -> Path:
    """The folder. Only weights, tokenizer and configuration are fetched, no code; what a cut left is gone on with.

    Raises HubUnreachable, DownloadFailed, DiskFull, BaseModelUnsafe, BaseModelInvalid, BaseModelUnsupported.
    """
    from huggingface_hub import HfApi, constants, snapshot_download
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    cache = Path(constants.HF_HUB_CACHE)
    with sentences(repo_id):
        listed = HfApi().model_info(repo_id, files_metadata=True)
        files = {file.rfilename: file for file in listed.siblings or []}
        wanted = [name for name in files if any(fnmatch(name, pattern) for pattern in SAFE_FILES)]
        if "config.json" not in wanted:
            raise BaseModelInvalid(f"{repo_id} holds no config.json; a GGUF file becomes a base by imprint models add")
        if not any(name.endswith(".safetensors") for name in wanted):
            raise BaseModelUnsafe(f"{repo_id} holds no safetensors")
        first = Path(snapshot_download(repo_id, allow_patterns=["config.json"]))
        refuse_experts(first)
        if keys := code_keys(read_json(first / "config.json")):
            raise BaseModelUnsafe(f"{repo_id} names code to run ({', '.join(keys)})")
        total = sum(files[name].size or 0 for name in wanted)
        store = cache / f"models--{repo_id.replace('/', '--')}" / "blobs"
        require_room(cache, total - stored(store))
        progress(f"{repo_id}: {size(total)} in {len(wanted)} files")
        with watched(store, total, repo_id, progress):
            folder = Path(snapshot_download(repo_id, allow_patterns=SAFE_FILES))
        progress(f"checking {repo_id}")
        for name in wanted:
            require_hash(folder / name, files[name].lfs, repo_id)
    refuse_unsafe(folder)
    return folder


class HubUnreachable(DownloadFailed):
    """Another source may do."""


@contextmanager
def sentences(repo_id: str) -> Iterator[None]:
    from huggingface_hub import constants
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, LocalEntryNotFoundError, RepositoryNotFoundError

    where = constants.ENDPOINT
    try:
        yield
    except GatedRepoError as error:
        raise DownloadFailed(
            f"{repo_id} is gated: accept its terms at {where}/{repo_id}, then set HF_TOKEN or log in with hf auth login"
        ) from error
    except RepositoryNotFoundError as error:
        raise DownloadFailed(
            f"the hub has no {repo_id}, or it is private: check the name; HF_TOKEN or hf auth login opens private ones"
        ) from error
    except HfHubHTTPError as error:
        raise DownloadFailed(f"the hub answered with status {error.response.status_code} for {repo_id}") from error
    except TrainerError:
        raise
    except (LocalEntryNotFoundError, ConnectionError) as error:
        raise HubUnreachable(f"the hub {where} cannot be reached for {repo_id}") from error
    except Exception as error:
        # The HTTP client's own errors have no name of the library's.
        if type(error).__module__.split(".")[0] in ("httpx", "httpx2", "httpcore", "hf_xet", "requests"):
            raise HubUnreachable(f"the hub {where} cannot be reached for {repo_id}, or was cut off") from error
        raise


def require_hash(file: Path, lfs: Any, repo_id: str) -> None:
    """Raises DownloadFailed, and leaves nothing of the file."""
    if lfs is not None and sha256_of(file) != lfs.sha256:
        file.resolve().unlink()
        file.unlink(missing_ok=True)
        raise DownloadFailed(f"{file.name} of {repo_id} does not have the hash that the hub names; it was removed")


def stored(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*") if path.is_file())


@contextmanager
def watched(folder: Path, total: int, doing: str, progress: Progress) -> Iterator[None]:
    """Says how much is there while the block runs."""
    over, tell = threading.Event(), meter(progress, f"downloading {doing}", total)

    def watch() -> None:
        while not over.wait(1):
            tell(min(total, stored(folder)))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
