"""Variants of the reference's own pickle file, made by editing its bytes: nothing of ctx_to_lora is needed."""

import struct
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from .tiny import FIXTURES

CHECKPOINT = FIXTURES / "pickle-llama-one-chunk" / "pytorch_model.bin"
Edit = Callable[[bytes], bytes]


def unchanged(data: bytes) -> bytes:
    return data


def rewrite(target: Path, edit: Edit = unchanged, *, entries: Mapping[str, bytes] | None = None) -> Path:
    """Copy the checkpoint with its data.pkl edited; `entries` replaces others."""
    with zipfile.ZipFile(CHECKPOINT) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as new:
        for name in old.namelist():
            data = old.read(name)
            short = name.partition("/")[2]
            if short == "data.pkl":
                data = edit(data)
            data = (entries or {}).get(short, data)
            new.writestr(name, data)
    return target


def text(value: str) -> bytes:
    """A string as the pickle holds it: opcode BINUNICODE, length, bytes."""
    return b"X" + struct.pack("<I", len(value.encode())) + value.encode()


def renaming(old: str, new: str) -> Edit:
    """Rename a string, for example a field: the field is missing then."""

    def edit(data: bytes) -> bytes:
        assert text(old) in data, old
        return data.replace(text(old), text(new))

    return edit


def in_globals(old: str, new: str) -> Edit:
    """Rename `module.Name` where the pickle names a global."""

    def edit(data: bytes) -> bytes:
        before, after = (b"c" + b"\n".join(x.rsplit(".", 1)[i].encode() for i in (0, 1)) + b"\n" for x in (old, new))
        assert before in data, old
        return data.replace(before, after)

    return edit


def old_module_path(data: bytes) -> bytes:
    """As older files are written: HypernetConfig under ctx_to_lora.modeling_utils."""
    return in_globals("ctx_to_lora.modeling.hypernet.HypernetConfig", "ctx_to_lora.modeling_utils.HypernetConfig")(data)


def after(*edits: Edit) -> Edit:
    def edit(data: bytes) -> bytes:
        for one in edits:
            data = one(data)
        return data

    return edit
