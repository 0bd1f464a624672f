"""Files that are no checkpoints, or only part of one."""

import zipfile
from pathlib import Path

import pytest

from imprint_trainer.doc_to_lora.checkpoint.convert import read_checkpoint
from imprint_trainer.errors import HypernetworkInvalid

from ..pickles import CHECKPOINT


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.9, 0.9999])
def test_truncated_files_are_refused(tmp_path: Path, share: float) -> None:
    data = CHECKPOINT.read_bytes()
    path = tmp_path / "model.bin"
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(HypernetworkInvalid, match="truncated"):
        read_checkpoint(path)


def test_a_damaged_storage_is_found_by_its_checksum(tmp_path: Path) -> None:
    data = bytearray(CHECKPOINT.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path = tmp_path / "model.bin"
    path.write_bytes(bytes(data))
    with pytest.raises(HypernetworkInvalid, match="damaged"):
        read_checkpoint(path)


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ({}, "no data.pkl"),
        ({"data.pkl": b""}, "no data.pkl"),
        ({"a/data.pkl": b"", "b/data.pkl": b""}, "no data.pkl"),
        ({"a/deep/data.pkl": b""}, "no data.pkl"),
        ({"a/data.pkl": b"\x80\x02N.", "a/byteorder": b"big"}, "big-endian"),
    ],
)
def test_other_zip_files_are_refused(tmp_path: Path, entries: dict[str, bytes], says: str) -> None:
    path = tmp_path / "model.bin"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    with pytest.raises(HypernetworkInvalid, match=says):
        read_checkpoint(path)


def test_a_zip_bomb_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/data.pkl", b"\0" * 2**22)
    with pytest.raises(HypernetworkInvalid, match="compressed"):
        read_checkpoint(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(HypernetworkInvalid, match=r"no checkpoint at gone\.bin"):
        read_checkpoint(tmp_path / "gone.bin")
