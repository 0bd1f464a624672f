"""What an adapter was made with: versions, and which base model to the byte. Digests are kept between workers, since
16 GB take half a minute to read.
"""

import contextlib
import hashlib
import json
import os
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from imprint_trainer.files import sha256_of
from imprint_trainer.models.causal_lm import LoadedBase

Known = dict[str, dict[str, Any]]  # by path: size, times, and sha256

PACKAGES = ("torch", "transformers", "peft", "bitsandbytes", "safetensors", "tokenizers")


def provenance(base: LoadedBase, base_model_name: str) -> dict[str, Any]:
    return {
        "base_model": {
            "name": base_model_name,
            "revision": base.revision,
            "sha256": base_sha256(base),
            "quantization": base.quantization,
            "dequantised_on_load": base.dequantised,
            "computed_in": base.computes_in,
        },
        "device": base.device.type,
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    return {package: version(package) for package in PACKAGES}


def base_sha256(base: LoadedBase) -> str:
    """Over name and SHA-256 of config.json, tokenizer.json and every *.safetensors; once while the base is resident."""
    if "sha256" not in base.memo:
        names = ["config.json", "tokenizer.json", *(path.name for path in base.folder.glob("*.safetensors"))]
        digest = hashlib.sha256()
        for name in sorted(name for name in names if (base.folder / name).is_file()):
            digest.update(f"{name} {cached_sha256(base.folder / name, base.digests)}\n".encode())
        base.memo["sha256"] = digest.hexdigest()
    return str(base.memo["sha256"])


def cached_sha256(path: Path, cache: Path | None) -> str:
    """From `cache`, a JSON file, where size and times are as they were; None keeps nothing."""
    status = path.stat()
    # ctime too: copies that keep their times do not set it back.
    facts = {"size": status.st_size, "mtime_ns": status.st_mtime_ns, "ctime_ns": status.st_ctime_ns}
    known = {} if cache is None else read_digests(cache)
    entry = known.get(str(path), {})
    if {**entry, **facts} == entry and isinstance(entry.get("sha256"), str):
        return str(entry["sha256"])
    digest = sha256_of(path)
    if cache is not None:
        with contextlib.suppress(OSError):
            write_digests(cache, {**known, str(path): {**facts, "sha256": digest}})
    return digest


def read_digests(cache: Path) -> Known:
    """Empty where it is absent or damaged."""
    try:
        known = json.loads(cache.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(known, dict):
        return {}
    return {path: entry for path, entry in known.items() if isinstance(entry, dict)}


def write_digests(cache: Path, known: Known) -> None:
    """As a whole: two workers may write at once, and the later one wins."""
    kept = {path: entry for path, entry in known.items() if Path(path).is_file()}
    descriptor, part = tempfile.mkstemp(dir=cache.parent, prefix=f".{cache.name}-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(kept, file, indent=2, sort_keys=True)
        Path(part).replace(cache)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
