"""Hostile and damaged checkpoints: nothing runs, nothing is imported, a sentence comes back."""

import pickle
import shlex
import struct
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from d2l.pickles import CHECKPOINT, Edit, after, in_globals, old_module_path, renaming, rewrite, text, unchanged
from doc_to_lora.checkpoint import read_checkpoint
from imprint_trainer.errors import HypernetworkInvalid

SPELLINGS = {"new module path": unchanged, "old module path": old_module_path}


class Trusting(pickle.Unpickler):
    """What an ordinary loader would do: the canaries must sing for it."""


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS.keys())
@pytest.mark.parametrize("name", ["os.system", "posix.system", "subprocess.getoutput"])
def test_a_canary_among_the_settings_does_not_run(tmp_path: Path, spelling: Edit, name: str) -> None:
    canary = tmp_path / "canary"
    shout = after(
        spelling,
        in_globals("peft.utils.peft_types.PeftType", name),
        renaming("LORA", f"touch {shlex.quote(str(canary))}"),
    )
    with pytest.raises(HypernetworkInvalid, match=name):
        read_checkpoint(rewrite(tmp_path / "model.bin", shout))
    assert not canary.exists()


@pytest.mark.parametrize(
    "name",
    ["os.system", "builtins.eval", "builtins.getattr", "__builtin__.exec", "torch.load", "copyreg._reconstructor"],
)
def test_a_canary_in_front_does_not_run(tmp_path: Path, name: str) -> None:
    module, function = name.rsplit(".", 1)
    data = b"\x80\x02c" + f"{module}\n{function}\n".encode() + text("1") + b"\x85R."
    with pytest.raises(HypernetworkInvalid, match=function):
        read_checkpoint(rewrite(tmp_path / "model.bin", lambda _: data))


def test_the_canary_is_alive_in_an_ordinary_unpickler(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    data = b"\x80\x02cos\nsystem\n" + text(f"touch {shlex.quote(str(canary))}") + b"\x85R."
    with pytest.raises(HypernetworkInvalid):
        read_checkpoint(rewrite(tmp_path / "model.bin", lambda _: data))
    assert not canary.exists()
    Trusting(BytesIO(data)).load()
    assert canary.exists()


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_no_module_that_the_pickle_names_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spelling: Edit
) -> None:
    canary = tmp_path / "canary"
    package = tmp_path / "ctx_to_lora"
    (package / "modeling").mkdir(parents=True)
    code = f"open({str(canary)!r}, 'w').close()\n"
    for name in (
        "__init__",
        "configs",
        "modeling_utils",
        "modeling/__init__",
        "modeling/hypernet",
        "modeling/aggregator",
    ):
        (package / f"{name}.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    read_checkpoint(rewrite(tmp_path / "model.bin", spelling))
    assert not canary.exists()
    assert not any(name.startswith("ctx_to_lora") for name in sys.modules)


def test_what_a_pickle_writes_onto_a_stand_in_is_gone_with_the_next_file(tmp_path: Path) -> None:
    name = b"cctx_to_lora.modeling.hypernet\nHypernetConfig\n"
    spoil = b"\x80\x02" + name + b"N}" + text("latent_size") + b"K\x07s\x86b."  # BUILD on the class itself
    with pytest.raises(HypernetworkInvalid):
        read_checkpoint(rewrite(tmp_path / "spoil.bin", lambda _: spoil))
    edited = rewrite(tmp_path / "model.bin", renaming("latent_size", "latent_gone"))
    assert "latent_size" not in read_checkpoint(edited).hypernet_config


@pytest.mark.parametrize(
    "opcode", [b"i", b"o", b"\x82\x01", b"P1\n", b"\x97", b"I1\n", b"\x92", b"\x8b\x01\x00\x00\x00\x01"]
)
def test_opcodes_that_torch_never_writes_are_refused(tmp_path: Path, opcode: bytes) -> None:
    payload = opcode + b"os\nsystem\n" if opcode == b"i" else opcode
    with pytest.raises(HypernetworkInvalid, match="torch.save never writes"):
        read_checkpoint(rewrite(tmp_path / "model.bin", lambda _: b"\x80\x02(" + payload + b"."))


def test_a_memo_index_that_would_allocate_gigabytes_is_refused(tmp_path: Path) -> None:
    data = b"\x80\x02Nr" + struct.pack("<I", 2**31 - 1) + b"."
    with pytest.raises(HypernetworkInvalid, match="out of bounds"):
        read_checkpoint(rewrite(tmp_path / "model.bin", lambda _: data))


def number(value: int) -> bytes:
    return b"J" + struct.pack("<i", value)


def tensor_pickle(size: str, stride: str, *, count: int = 256, offset: int = 0, key: str = "10") -> bytes:
    """One tensor on a storage of the fixture; number 10 has 64 bytes: 16 floats."""
    sizes, strides = (b"(" + b"".join(number(int(n)) for n in x.split()) + b"t" for x in (size, stride))
    storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text(key) + text("cpu") + number(count) + b"tQ"
    tensor = storage + number(offset) + sizes + strides + b"\x89N"
    return b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(" + tensor + b"tR."


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (tensor_pickle("17", "1", count=16), "outside its storage"),
        (tensor_pickle("4 4", "5 1", count=16), "outside its storage"),
        (tensor_pickle("16", "1", count=16, offset=1), "outside its storage"),
        (tensor_pickle("200 200", "0 0", count=16), "outside its storage"),
        (tensor_pickle("4 4", "4", count=16), "malformed"),
        (tensor_pickle("16", "1", count=17), "bytes where"),
        (tensor_pickle("16", "1", count=16, key="999"), "999"),
        (tensor_pickle("16", "1", count=16, key="../version"), "no tensor storage"),
        (tensor_pickle("16", "1", count=16), "flat dict"),
        (b"\x80\x02NQ.", "no tensor storage"),
        (b"\x80\x02}(" + text("a") + b"K\x01u.", "no Doc-to-LoRA checkpoint"),
        (b"\x80\x02N.", "flat dict"),
        (b"\x80\x02.", "damaged"),
        (b"", "truncated or damaged"),
        (b"\x80\x02" + b"(" * 3 + b"l" * 3, "truncated or damaged"),
    ],
)
def test_malformed_pickles_are_refused_with_a_reason(tmp_path: Path, data: bytes, says: str) -> None:
    with pytest.raises(HypernetworkInvalid, match=says):
        read_checkpoint(rewrite(tmp_path / "model.bin", lambda _: data))


def test_settings_nested_without_end_are_refused(tmp_path: Path) -> None:
    loop = b"\x80\x02}q\x00" + text("hypernet_config") + b"h\x00s."
    with pytest.raises(HypernetworkInvalid, match="nested too deeply"):
        read_checkpoint(rewrite(tmp_path / "model.bin", lambda _: loop))


def test_settings_that_unfold_without_end_are_refused(tmp_path: Path) -> None:
    """Ten lists, each of which holds the one before a hundred times."""
    data = b"\x80\x02}" + text("hypernet_config") + b"]q\x00"
    for level in range(10):
        data += b"0](" + b"h" + bytes([level]) + (b"h" + bytes([level])) * 99 + b"eq" + bytes([level + 1])
    with pytest.raises(HypernetworkInvalid, match="too large"):
        read_checkpoint(rewrite(tmp_path / "model.bin", lambda _: data + b"s."))


def test_tensors_that_unfold_from_one_storage_are_refused(tmp_path: Path) -> None:
    def edit(data: bytes) -> bytes:
        view = tensor_pickle("32768", "1", count=32768, key="6")[2:-1]  # 128 KiB each
        return data[: -len(b"u.")] + b"".join(text(f"layers.{i}") + view for i in range(40)) + b"u."

    with pytest.raises(HypernetworkInvalid, match="larger than the checkpoint"):
        read_checkpoint(rewrite(tmp_path / "model.bin", edit))


@settings(max_examples=150)
@given(position=st.integers(0, 9000), replacement=st.binary(min_size=1, max_size=6))
def test_damage_anywhere_in_the_pickle_is_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, position: int, replacement: bytes
) -> None:
    def edit(data: bytes) -> bytes:
        return data[:position] + replacement + data[position + len(replacement) :]

    path = rewrite(tmp_path_factory.mktemp("damaged") / "model.bin", edit)
    try:
        raw = read_checkpoint(path)
    except HypernetworkInvalid as error:
        assert error.message.endswith(".")
    else:
        assert all(isinstance(key, str) for key in raw.tensors)


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
