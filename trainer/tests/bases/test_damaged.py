"""Damaged GGUF files: read, or refused in a sentence, whatever happened to their bytes."""

import os
import random
from pathlib import Path

import pytest

from bases.gguf_double import rounded, write_gguf
from imprint_trainer.bases.gguf_tokenizer import read_tokenizer
from imprint_trainer.bases.gguf_weights import open_gguf, read_model, reading
from imprint_trainer.errors import BaseModelInvalid, BaseModelUnsupported
from tiny_model import write_tiny_model

RUNS = int(os.environ.get("FUZZ_RUNS", "100"))  # 100,000 take half an hour
ODD = (b"\xff" * 8, bytes(8), (2**31).to_bytes(8, "little"), (2**40).to_bytes(8, "little"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("whole")
    base = rounded(write_tiny_model(folder / "model", model_type="llama", head_dim=16))
    return write_gguf(base, folder / "tiny.gguf").read_bytes()


def damaged(data: bytes, draw: random.Random) -> bytes:
    """With one to three faults, most of them near the beginning, where it says what it holds."""
    for _ in range(draw.randint(1, 3)):
        at, kind = int(draw.random() ** 4 * len(data)), draw.choice(["bit", "number", "cut", "copy"])
        if kind == "bit":
            data = data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]
        elif kind == "number":
            data = data[:at] + draw.choice(ODD) + data[at + 8 :]
        elif kind == "cut":
            data = data[: max(1, int(draw.random() * len(data)))]
        else:
            data = data[:at] + data[at : at + draw.randrange(40)] + data[at:]
    return data


@pytest.mark.timeout(60 + RUNS)
def test_a_damaged_file_is_read_or_refused(whole: bytes, tmp_path: Path) -> None:
    draw, refused, path = random.Random(7), 0, tmp_path / "damaged.gguf"
    for _ in range(RUNS):
        path.write_bytes(damaged(whole, draw))
        try:
            with reading(path):
                file = open_gguf(path)
                read_tokenizer(file)
                read_model(file)
        except (BaseModelInvalid, BaseModelUnsupported) as error:
            assert "\n" not in error.message
            refused += 1
    assert 0 < refused < RUNS


def test_more_blocks_than_tensors_are_refused_before_a_model_of_them_is_made(whole: bytes, tmp_path: Path) -> None:
    key = b"llama.block_count"
    at = whole.index(key) + len(key) + 4
    path = tmp_path / "deep.gguf"
    path.write_bytes(whole[:at] + (2**31).to_bytes(4, "little") + whole[at + 4 :])
    with pytest.raises(BaseModelInvalid, match="claims 2147483648 blocks"):
        open_gguf(path)


@pytest.mark.parametrize("length", [2**21 + 1, 2**40, 2**63])
def test_a_list_of_more_entries_than_any_vocabulary_has_is_refused_before_it_is_read(
    whole: bytes, tmp_path: Path, length: int
) -> None:
    key = b"tokenizer.ggml.token_type"
    at = whole.index(key) + len(key) + 8
    path = tmp_path / "long.gguf"
    path.write_bytes(whole[:at] + length.to_bytes(8, "little") + whole[at + 8 :])
    with pytest.raises(BaseModelInvalid, match=f"a list of {length} entries"):
        open_gguf(path)
