"""What a node runs first where the storage is an object store: it brings an attempt here, and supervises it.

The service hands it over as text (`IMPRINT_FETCH`), for the sources lie on the store too: only the standard library and
fsspec are at hand. Credentials are the node's own, found as all of Amazon's clients do.
"""

import contextlib
import json
import os
import shutil
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

GONE, REFUSED = 3, 4  # exit statuses
REFUSED_SECONDS = 10.0  # rights that were just given take a while to count
TELL_SECONDS = 20.0
LOG = "log.txt"
AT_ONCE = 8  # files that are fetched at the same time
FULL_STORES = ("XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "QuotaExceeded", "InsufficientStorage")


class Gone(Exception):  # noqa: N818  named for what happened
    """The attempt is somebody else's by now."""


class Store:
    """Files on an object store, by their names below its root. What is not there is None, or nothing."""

    def __init__(self, env: Mapping[str, str]) -> None:
        import fsspec

        options: dict[str, Any] = {"use_listings_cache": False, "skip_instance_cache": True}
        # A node may call the server by another name than the service does.
        own = env.get("AWS_ENDPOINT_URL_S3") or env.get("AWS_ENDPOINT_URL")
        if endpoint := own or env.get("IMPRINT_STORE_ENDPOINT"):
            options["endpoint_url"] = endpoint
        self._files, self._root = fsspec.core.url_to_fs(env["IMPRINT_STORE"], **options)

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"

    def read(self, name: str) -> bytes | None:
        try:
            return bytes(self._files.cat_file(self._at(name)))
        except FileNotFoundError:
            return None

    def put(self, name: str, content: bytes) -> None:
        self._files.pipe_file(self._at(name), content)

    def put_file(self, path: Path, name: str) -> None:
        self._files.put_file(str(path), self._at(name))

    def names(self, folder: str) -> list[str]:
        """Of all files below it, from there."""
        start = len(self._at(folder)) + 1
        return [path[start:] for path in self._files.find(self._at(folder))]

    def remove(self, folder: str, names: list[str]) -> None:
        if names:
            self._files.rm([self._at(f"{folder}/{name}") for name in names])

    def get_tree(self, folder: str, to: Path) -> None:
        def get(name: str) -> None:
            path = (to / name).resolve()
            if not path.is_relative_to(to.resolve()):
                raise PermissionError(f"{name} leads out of its folder")
            path.parent.mkdir(parents=True, exist_ok=True)
            self._files.get_file(self._at(f"{folder}/{name}"), str(path))

        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(get, self.names(folder)))

    def get_once(self, folder: str, to: Path) -> None:
        """A folder that many jobs read: whole or not there."""
        if to.exists():
            return
        to.parent.mkdir(parents=True, exist_ok=True)
        part = to.parent / f".{uuid.uuid4().hex}"
        try:
            self.get_tree(folder, part)
            part.rename(to)
        except OSError:
            if not to.exists():  # else another job was faster
                raise
        finally:
            shutil.rmtree(part, ignore_errors=True)


class Telling:
    """Says in the attempt's log, part by part, that its node still fetches: large models outlast patience."""

    def __init__(self, store: Store, name: str, *, every: float) -> None:
        self._store, self._log, self._every = store, f"{name}/{LOG}", every
        self._next = len(store.names(self._log))
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tell, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _tell(self) -> None:
        while True:
            with contextlib.suppress(Exception):  # of whatever client the store has; whoever fetches meets it too
                self._store.put(f"{self._log}/{self._next:06d}", b"The node fetches what the job reads.\n")
                self._next += 1
            if self._over.wait(self._every):
                return


def join_parts(path: Path) -> None:
    """Makes the file of its parts."""
    if path.is_dir():
        content = b"".join(part.read_bytes() for part in sorted(path.iterdir()))
        shutil.rmtree(path)
        path.write_bytes(content)


def refusal(error: Exception) -> str | None:
    """Why the store will not do it however often it is asked, as a code of ours; None where it may."""
    answer = getattr(error, "response", None) or getattr(error.__cause__, "response", None) or {}
    if answer.get("Error", {}).get("Code") in FULL_STORES:
        return "DISK_FULL"
    status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode")
    if status == 507:  # noqa: PLR2004  Insufficient Storage
        return "DISK_FULL"
    denied = isinstance(error, PermissionError) or type(error).__name__ == "NoCredentialsError"
    return "STORAGE_FAILED" if denied else None


def patiently(act: Callable[[], None], what: str, *, patience: float, poll: float) -> int:
    """A store that does not answer is asked again for so long, one that refuses for a moment. The exit status."""
    failing: float | None = None
    while True:
        try:
            act()
            return 0
        except Gone:
            raise
        except Exception as error:  # of whatever client the store has
            why = refusal(error)
            failing = failing or time.monotonic()
            if time.monotonic() - failing >= min(patience, REFUSED_SECONDS if why else patience):
                print(f"{why or 'STORAGE_FAILED'}: {what} ({error!r})", file=sys.stderr)
                return REFUSED
        time.sleep(poll)


def own_folder(path: Path) -> None:
    """Of this user alone: what lies in it is run."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.is_symlink() or path.stat().st_uid != os.getuid():
        raise PermissionError(f"{path} belongs to somebody else: name another folder in ray_scratch")


def fetch(env: Mapping[str, str]) -> None:
    """Brings the attempt and what it reads. Raises Gone where there is nothing to supervise."""
    copy, folder = Path(env["IMPRINT_COPY"]), Path(env["IMPRINT_ATTEMPT"])
    name = folder.relative_to(copy).as_posix()
    own_folder(copy)
    store = Store(env)
    order = store.read(f"{name}/attempt.json")
    if order is None:
        raise Gone("The attempt's folder is gone: another attempt has taken its place.")
    carry = json.loads(order)["carry"]
    with Telling(store, name, every=min(TELL_SECONDS, carry["patience_seconds"] / 3)):
        for need in carry["needs"]:
            store.get_once(need, copy / need)
    part = folder.with_name(f".{folder.name}-{uuid.uuid4().hex}")
    try:
        store.get_tree(name, part)
        join_parts(part / LOG)
        for made in (part / "requests", part / "output", part / "checkpoint", copy / "measurements"):
            made.mkdir(exist_ok=True)
        if folder.exists():
            raise Gone("The attempt is under way on this machine already.")
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def main() -> int:
    """0 where the attempt is here, to be supervised; else the exit status."""
    patience = float(os.environ["IMPRINT_PATIENCE"])
    try:
        return patiently(lambda: fetch(os.environ), "the attempt could not be fetched", patience=patience, poll=1.0)
    except Gone as gone:
        print(gone, file=sys.stderr)
        return GONE


if __name__ == "__main__":
    if failed := main():
        sys.exit(failed)
    # The supervisor takes this process's place, and with it the engine's signals. The sources are the worker's too.
    os.environ["PYTHONPATH"] = os.environ["IMPRINT_SOURCES"]
    os.execv(sys.executable, [sys.executable, "-m", "imprint_node", os.environ["IMPRINT_ATTEMPT"]])
