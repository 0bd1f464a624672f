"""`python -m imprint_trainer.hub FOLDER REPO [--private]`: uploads an adapter's folder to a model hub.

Endpoint and token are the library's own matter: HF_ENDPOINT, HF_TOKEN or its login. Nothing here reads or prints them.
"""

import argparse
import json
import logging
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

NEEDED = ("adapter_config.json", "adapter_model.safetensors")
TOKEN_NEEDED = "Set HF_TOKEN to a token that may write, or log in with hf auth login."


class PushRefusedError(Exception):
    """The upload did not happen; the message says what to do."""


def push(folder: Path, repo: str, *, private: bool) -> dict[str, str]:
    """Makes the repository where it is missing and commits every file of the folder at once. Raises
    PushRefusedError."""
    from huggingface_hub import HfApi, get_token
    from huggingface_hub.errors import HfHubHTTPError
    from huggingface_hub.utils.tqdm import disable_progress_bars

    for name in NEEDED:
        if not (folder / name).is_file():
            raise PushRefusedError(f"The folder is no adapter: it holds no {name}.")
    if get_token() is None:
        raise PushRefusedError(f"There is no token for the model hub. {TOKEN_NEEDED}")
    disable_progress_bars()
    api = HfApi()
    try:
        api.create_repo(repo, private=private, exist_ok=True)
        commit = api.upload_folder(repo_id=repo, folder_path=folder, commit_message=f"Upload {repo.split('/')[-1]}")
    except HfHubHTTPError as error:
        raise PushRefusedError(refusal(error.response.status_code, repo)) from error
    except Exception as error:  # the HTTP client's own errors have no name of the library's
        raise PushRefusedError(f"{api.endpoint} could not be spoken to: {type(error).__name__}.") from error
    return {"repo": repo, "url": f"{api.endpoint}/{repo}", "commit": commit.oid}


def refusal(status: int, repo: str) -> str:
    if status == 401:
        return f"The model hub does not accept the token. {TOKEN_NEEDED}"
    if status in (403, 404):
        return f"The token may not write to {repo}. Choose a repository of your own, or a token with write access."
    return f"The model hub answered with status {status}. Try again later."


def main(argv: Sequence[str]) -> int:
    """Exit code 0 with one JSON document, or 1 with a sentence on stderr."""
    parser = argparse.ArgumentParser(prog="imprint push")
    parser.add_argument("folder", type=Path)
    parser.add_argument("repo")
    parser.add_argument("--private", action="store_true")
    options = parser.parse_args(argv)
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    try:
        print(json.dumps(push(options.folder, options.repo, private=options.private)))
    except PushRefusedError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
