import hashlib
import json
import os
from pathlib import Path

import pytest

from imprint_trainer.publish.provenance import cached_sha256


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"weights")
    return path


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "digests.json"


def test_a_file_that_did_not_change_is_not_read_again(weights: Path, cache: Path) -> None:
    assert cached_sha256(weights, cache) == digest(weights)
    known = json.loads(cache.read_text())
    known[str(weights)]["sha256"] = "5" * 64
    cache.write_text(json.dumps(known))
    assert cached_sha256(weights, cache) == "5" * 64


def test_a_file_that_changed_is_read_again_even_at_its_old_size_and_time(weights: Path, cache: Path) -> None:
    cached_sha256(weights, cache)
    before = weights.stat()
    weights.write_bytes(b"weighty")
    os.utime(weights, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert weights.stat().st_size == before.st_size
    assert cached_sha256(weights, cache) == digest(weights)
    assert cached_sha256(weights, cache) == digest(weights)


def test_digests_of_several_files_stand_side_by_side_and_those_of_deleted_ones_go(weights: Path, cache: Path) -> None:
    other = weights.with_name("other.safetensors")
    other.write_bytes(b"other")
    assert cached_sha256(weights, cache) != cached_sha256(other, cache)
    assert json.loads(cache.read_text()).keys() == {str(weights), str(other)}
    weights.unlink()
    other.write_bytes(b"changed")
    cached_sha256(other, cache)
    assert json.loads(cache.read_text()).keys() == {str(other)}


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff", b'{"x": 1}', b"[" * 100_000])
def test_a_damaged_cache_is_made_anew(weights: Path, cache: Path, damage: bytes) -> None:
    cache.write_bytes(damage)
    assert cached_sha256(weights, cache) == digest(weights)
    assert json.loads(cache.read_text())[str(weights)]["sha256"] == digest(weights)


def test_a_cache_that_cannot_be_written_costs_only_time(weights: Path, tmp_path: Path) -> None:
    assert cached_sha256(weights, tmp_path / "absent" / "digests.json") == digest(weights)
    assert cached_sha256(weights, None) == digest(weights)
