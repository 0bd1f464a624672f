"""From a path or hub id to a folder on this machine."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from imprint_trainer.errors import BaseModelNotFound
from imprint_trainer.models.scan import refuse_unsafe

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
SAFE_FILES = [
    "*.safetensors",
    "*.safetensors.index.json",
    "*.json",
    "*.jinja",
    "tokenizer.model",
    "merges.txt",
    "vocab.txt",
    "README.md",  # names the licence
]


@dataclass(frozen=True)
class Located:
    folder: Path
    revision: str | None  # commit of a hub model


def downloads_allowed() -> bool:
    return os.environ.get("IMPRINT_ALLOW_DOWNLOADS") == "1"


def locate_base(path_or_hub_id: str) -> Located:
    """The folder of a base model, checked for code and pickles.

    Raises BaseModelNotFound, BaseModelUnsafe, BaseModelInvalid.
    """
    path = Path(path_or_hub_id).expanduser()
    if path.is_dir():
        folder, revision = path.resolve(), None
    elif not path.is_absolute() and HUB_ID.fullmatch(path_or_hub_id):
        folder, revision = _from_hub(path_or_hub_id)
    else:
        raise BaseModelNotFound(f"{path.name or path_or_hub_id} is neither a folder nor a hub id owner/name")
    refuse_unsafe(folder)
    return Located(folder, revision)


def _from_hub(repo_id: str) -> tuple[Path, str | None]:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    allowed = downloads_allowed()
    try:
        # Only files that are read: code and pickles of the repository never reach the disk.
        folder = Path(snapshot_download(repo_id, allow_patterns=SAFE_FILES, local_files_only=not allowed))
    except LocalEntryNotFoundError as error:
        remedy = (
            "the hub cannot be reached"
            if allowed
            else "downloads are not allowed (IMPRINT_ALLOW_DOWNLOADS=1 allows them)"
        )
        raise BaseModelNotFound(f"{repo_id} is not on this machine, and {remedy}") from error
    except (HfHubHTTPError, OSError) as error:
        raise BaseModelNotFound(f"{repo_id} cannot be downloaded: {type(error).__name__}") from error
    return folder, folder.name if re.fullmatch(r"[0-9a-f]{40}", folder.name) else None
