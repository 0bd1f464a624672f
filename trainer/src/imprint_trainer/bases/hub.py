"""A base model from the model hub, into the hub library's own cache, where other programs find it too."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from imprint_trainer.bases.progress import Progress, meter, require_room, size
from imprint_trainer.errors import BaseModelInvalid, BaseModelUnsafe, DownloadFailed, TrainerError
from imprint_trainer.files import sha256_of
from imprint_trainer.models.locate import (
    SAFE_FILES,
    UNREAD_FILES,
    code_keys,
    read_json,
    refuse_unsafe,
)
from imprint_trainer.models.supported import refuse_unsupported


def pull_hub(repo_id: str, progress: Progress) -> Path:
    """The folder. Only weights, tokenizer and configuration are fetched, no code; what a cut left is gone on with.

    Raises HubUnreachable, DownloadFailed, DiskFull, BaseModelUnsafe, BaseModelInvalid, BaseModelUnsupported.
    """
    from huggingface_hub import HfApi, constants, snapshot_download
    from huggingface_hub.utils._paths import filter_repo_objects
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    cache = Path(constants.HF_HUB_CACHE)
    with sentences(repo_id):
        listed = HfApi().model_info(repo_id, files_metadata=True)
        files = {file.rfilename: file for file in listed.siblings or []}
        wanted = list(filter_repo_objects(files, allow_patterns=SAFE_FILES, ignore_patterns=UNREAD_FILES))
        if "config.json" not in wanted:
            raise BaseModelInvalid(f"{repo_id} holds no config.json; a GGUF file becomes a base by imprint models add")
        if not any(name.endswith(".safetensors") for name in wanted):
            raise BaseModelUnsafe(f"{repo_id} holds no safetensors")
        first = Path(snapshot_download(repo_id, allow_patterns=["config.json"]))
        refuse_unsupported(first, repo_id)
        if keys := code_keys(read_json(first / "config.json")):
            raise BaseModelUnsafe(f"{repo_id} names code to run ({', '.join(keys)})")
        total = sum(files[name].size or 0 for name in wanted)
        store = cache / f"models--{repo_id.replace('/', '--')}" / "blobs"
        require_room(cache, total - stored(store))
        progress(f"{repo_id}: {size(total)} in {len(wanted)} files")
        with watched(store, total, repo_id, progress):
            for name in wanted:
                if files[name].lfs is not None:
                    fetch_blob(repo_id, str(listed.sha), files[name], store)
            folder = Path(snapshot_download(repo_id, allow_patterns=SAFE_FILES, ignore_patterns=UNREAD_FILES))
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


def fetch_blob(repo_id: str, commit: str, file: Any, store: Path) -> None:
    """Puts a large file where the hub's library looks for it, once its hash is right. The library itself would begin a
    file anew after a cut. Raises DownloadFailed."""
    from huggingface_hub import hf_hub_url
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils._headers import build_hf_headers

    blob = store / file.lfs.sha256
    if blob.is_file():
        return
    store.mkdir(parents=True, exist_ok=True)
    begun = blob.with_name(f"{blob.name}.begun")
    with begun.open("ab") as target:
        url, at = hf_hub_url(repo_id, file.rfilename, revision=commit), target.tell()
        http_get(url, target, resume_size=at, headers=build_hf_headers(), expected_size=file.size)
    if sha256_of(begun) != blob.name:
        begun.unlink()
        raise DownloadFailed(f"{file.rfilename} of {repo_id} does not have the hash that the hub names; it was removed")
    begun.replace(blob)


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
