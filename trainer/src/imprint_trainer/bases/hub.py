"""A base model from the model hub, into the hub library's own cache, where other programs find it too."""

import hashlib
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from imprint_trainer.bases.progress import Progress, meter, require_room
from imprint_trainer.errors import BaseModelInvalid, DownloadFailed, TrainerError
from imprint_trainer.files import sha256_of, write_text
from imprint_trainer.models.locate import PICKLES, SAFE_FILES, SCANNED, UNREAD_FILES, model_config, refuse_unsafe
from imprint_trainer.models.memory_model import gigabytes
from imprint_trainer.models.supported import cut_towers, model_class, refuse_unsupported


@dataclass(frozen=True)
class Blob:
    """A file as the hub names it: by its SHA-256, or by the hash that git gives small ones."""

    url: str
    hash: str
    bytes: int


def pull_hub(repo_id: str, progress: Progress) -> Path:
    """The folder. Only weights, tokenizer and configuration are fetched, no code; what a cut left is gone on with. The
    hub's library finds the model once all of it is there. Raises HubUnreachable, DownloadFailed, DiskFull,
    BaseModelUnsafe, BaseModelInvalid, BaseModelUnsupported."""
    from huggingface_hub import HfApi, constants, hf_hub_url
    from huggingface_hub.file_download import _create_symlink
    from huggingface_hub.utils._fixes import WeakFileLock
    from huggingface_hub.utils._paths import filter_repo_objects
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    home = Path(constants.HF_HUB_CACHE) / f"models--{repo_id.replace('/', '--')}"
    with sentences(repo_id):
        listed = HfApi().model_info(repo_id, files_metadata=True)
        commit = str(listed.sha)
        files = {
            file.rfilename: Blob(
                hf_hub_url(repo_id, file.rfilename, revision=commit),
                file.lfs.sha256 if file.lfs else str(file.blob_id),
                file.size or 0,
            )
            for file in listed.siblings or []
        }
        read = filter_repo_objects(files, allow_patterns=SAFE_FILES, ignore_patterns=UNREAD_FILES)
        wanted = {name: files[name] for name in read}
        require_trainable(repo_id, wanted, [name for name in files if name in wanted or name.endswith(PICKLES)])
        places = {home / "blobs" / blob.hash: blob for blob in wanted.values()}
        total = sum(blob.bytes for blob in places.values())
        require_room(home, total - there(places))
        progress(f"{repo_id}: {gigabytes(total / 1e6)} in {len(wanted)} files")
        (home / "blobs").mkdir(parents=True, exist_ok=True)
        with WeakFileLock(home / "pull.lock"), watched(places, total, repo_id, progress):
            for place, blob in places.items():
                fetch(blob, place, repo_id)
    folder = home / "snapshots" / commit
    folder.mkdir(parents=True, exist_ok=True)
    for name, blob in wanted.items():
        _create_symlink(str(home / "blobs" / blob.hash), str(folder / name))
    (home / "refs").mkdir(exist_ok=True)
    write_text(home / "refs" / "main.new", commit)
    (home / "refs" / "main.new").replace(home / "refs" / "main")
    return folder


def require_trainable(repo_id: str, wanted: Mapping[str, Blob], names: list[str]) -> None:
    """Raises BaseModelUnsafe, BaseModelInvalid and BaseModelUnsupported, as trainings would, by the small files that
    say so. `names`: of the files that trainings would look at."""
    if "config.json" not in wanted:
        raise BaseModelInvalid(f"{repo_id} holds no config.json; a GGUF file becomes a base by imprint models add")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, repo_id.rpartition("/")[2])
        folder.mkdir()
        for name in (name for name in SCANNED if name in wanted):
            fetch(wanted[name], folder / name, repo_id)
        refuse_unsafe(folder, names)
        refuse_unsupported(folder)
        config = model_config(folder)
        cut_towers(config)
        model_class(config, folder.name)


class HubUnreachable(DownloadFailed):
    """Another source may do."""


@contextmanager
def sentences(repo_id: str) -> Iterator[None]:
    from huggingface_hub import constants
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError

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
    except ConnectionError as error:
        raise HubUnreachable(f"the hub {where} cannot be reached for {repo_id}") from error
    except Exception as error:
        # The HTTP client's own errors have no name of the library's.
        if type(error).__module__.split(".")[0] in ("httpx", "httpx2", "httpcore", "requests"):
            raise HubUnreachable(f"the hub {where} cannot be reached for {repo_id}, or was cut off") from error
        raise


def fetch(blob: Blob, target: Path, repo_id: str) -> None:
    """Writes `target`, which is there once its hash is right. The hub's library itself would begin a file anew after a
    cut. Raises DownloadFailed."""
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils._headers import build_hf_headers

    if target.is_file():
        return
    begun = begun_of(target)
    with begun.open("ab") as file:
        http_get(blob.url, file, resume_size=file.tell(), headers=build_hf_headers(), expected_size=blob.bytes)
    if blob.hash != (sha256_of(begun) if len(blob.hash) == 64 else git_hash_of(begun)):
        begun.unlink()
        name = blob.url.rpartition("/")[2]
        raise DownloadFailed(f"{name} of {repo_id} does not have the hash that the hub names; it was removed")
    begun.replace(target)


def git_hash_of(path: Path) -> str:
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def begun_of(target: Path) -> Path:
    return target.with_name(f"{target.name}.begun")


def there(places: Mapping[Path, Blob]) -> int:
    """Bytes of the blobs that were fetched."""
    found = (path for place in places for path in (place, begun_of(place)) if path.is_file())
    return sum(path.stat().st_size for path in found)


@contextmanager
def watched(places: Mapping[Path, Blob], total: int, doing: str, progress: Progress) -> Iterator[None]:
    """Says how much is there while the block runs."""
    over, tell = threading.Event(), meter(progress, f"downloading {doing}", total)

    def watch() -> None:
        while not over.wait(1):
            tell(min(total, there(places)))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
