"""Rows of different lengths as one tensor."""

import torch
from torch import Tensor


def pad(rows: list[list[int]], *, left: bool = False) -> tuple[Tensor, Tensor]:
    """Ids and mask, both [rows, longest]; padding is id 0, mask 0."""
    width = max(len(row) for row in rows)
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    mask = torch.zeros(len(rows), width, dtype=torch.long)
    for index, row in enumerate(rows):
        at = slice(width - len(row), width) if left else slice(0, len(row))
        ids[index, at] = torch.tensor(row)
        mask[index, at] = 1
    return ids, mask
