"""Retention rows on disk: a resumed training does not ask the base again."""

import json
from pathlib import Path
from typing import Any, get_args

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from imprint_trainer.doc_to_lora.training.retention import Kind, RetentionRow

ROWS = "retention.safetensors"
KEY = "retention.json"
KINDS = get_args(Kind)


def save_rows(folder: Path, key: dict[str, Any], rows: list[RetentionRow]) -> None:
    """The key, written last, vouches for the rows."""
    (folder / KEY).unlink(missing_ok=True)
    tensors = {
        "ids": torch.tensor([i for row in rows for i in row.ids], dtype=torch.int32),
        "lengths": torch.tensor([len(row.ids) for row in rows], dtype=torch.int32),
        "questions": torch.tensor([len(row.question) for row in rows], dtype=torch.int32),
        "kinds": torch.tensor([KINDS.index(row.kind) for row in rows], dtype=torch.int32),
        "targets": torch.cat([row.targets for row in rows]).to(torch.int32),
        "log_probs": torch.cat([row.log_probs for row in rows]),
    }
    save_file(tensors, folder / ROWS)
    part = folder / f"{KEY}.part"
    part.write_text(json.dumps(key, indent=1) + "\n", encoding="utf-8")
    part.rename(folder / KEY)


def load_rows(folder: Path, key: dict[str, Any]) -> list[RetentionRow] | None:
    """None where there are none, where they were made otherwise, or where a file is damaged."""
    try:
        if json.loads((folder / KEY).read_text(encoding="utf-8")) != key:
            return None
        tensors = load_file(folder / ROWS)
        lengths = tensors["lengths"].tolist()
        questions = tensors["questions"].tolist()
        kinds = [KINDS[index] for index in tensors["kinds"].tolist()]
        ids = tensors["ids"].split(lengths)
        supervised = [length - 1 for length in lengths]
        targets = tensors["targets"].long().split(supervised)
        log_probs = tensors["log_probs"].split(supervised)
    except (OSError, ValueError, KeyError, IndexError, RuntimeError, SafetensorError):
        return None
    return [
        RetentionRow(kind, row[:asked].tolist(), row[asked:].tolist(), t, p)
        for kind, row, asked, t, p in zip(kinds, ids, questions, targets, log_probs, strict=True)
    ]
