"""Marks that a chat template writes, that have a token of their own, and that the base was never trained on.

Qwen2.5-Coder-0.5B has one row of embeddings for <tool_call>, </tool_call> and some 290 tokens that nobody uses. Its
head has the same rows and cannot choose one of them: such a base never begins a call, and no adapter teaches it to. As
ordinary text the marks are learned like any words. Imports no torch: previews make text too.
"""

import json
from collections.abc import Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np

SAME = 0.01  # of a row's norm: quantised files move rows that were the same by a third of it
READ_AS = {"BF16": np.uint16, "F16": np.float16, "F32": np.float32}
HEADS = ("lm_head.weight", "embed_tokens.weight")  # the head's own rows, else those that it shares
UNUSED = 64  # rows behind the last token that are looked at


def without_unlearned_marks(tokenizer: Any, folder: Path) -> Any:
    """The tokenizer, for which marks whose row another token has too are text."""
    added = {token.content: index for index, token in tokenizer.added_tokens_decoder.items() if not token.special}
    marks = {name: index for name, index in added.items() if name in str(tokenizer.chat_template)}
    head = head_of(folder) if marks else None
    if head is None:
        return tokenizer
    last = max(tokenizer.added_tokens_decoder)
    others = [*tokenizer.added_tokens_decoder, *range(last + 1, last + 1 + UNUSED)]
    unlearned = {name for name, index in marks.items() if index < len(head) and has_double(head, index, others)}
    return as_text(tokenizer, unlearned) if unlearned else tokenizer


def as_text(tokenizer: Any, names: Set[str]) -> Any:
    """The tokenizer without these tokens. One that is no BPE stays as it is."""
    from tokenizers import Tokenizer

    stored = json.loads(tokenizer.backend_tokenizer.to_str())
    model = stored["model"]
    if model["type"] == "BPE":
        stored["added_tokens"] = [token for token in stored["added_tokens"] if token["content"] not in names]
        model["vocab"] = {name: index for name, index in model["vocab"].items() if name not in names}
        tokenizer._tokenizer = Tokenizer.from_str(json.dumps(stored))
    return tokenizer


def has_double(head: Any, index: int, others: Sequence[int]) -> bool:
    """Whether another of these rows of head [tokens, d] is the same."""
    rows = as_float(head[[index, *(other for other in others if other != index and other < len(head))]])
    distances = np.linalg.norm(rows[1:] - rows[0], axis=1)
    return bool((distances < SAME * np.linalg.norm(rows[0])).any())


def as_float(rows: Any) -> Any:
    return (rows.astype(np.uint32) << 16).view(np.float32) if rows.dtype == np.uint16 else rows.astype(np.float32)


def head_of(folder: Path) -> Any | None:
    """The head's rows [tokens, d] as they lie in the safetensors, of bf16 the bits; None where there are none of a
    format that is read here."""
    found: dict[str, Any] = {}
    for file in sorted(folder.glob("*.safetensors")):
        with file.open("rb") as opened:
            size = int.from_bytes(opened.read(8), "little")
            text = opened.read(min(size, file.stat().st_size))
        try:
            header = json.loads(text)
        except ValueError:
            continue  # loading it says what is wrong
        for key, about in header.items():
            name = next((name for name in HEADS if key == name or key.endswith(f".{name}")), None)
            if name is not None and about["dtype"] in READ_AS:
                start = 8 + size + about["data_offsets"][0]
                found[name] = np.memmap(file, READ_AS[about["dtype"]], "r", start, tuple(about["shape"]))
    return next((found[name] for name in HEADS if name in found), None)
