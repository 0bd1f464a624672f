"""A document's ids cut into chunks with affixes (section 3.2)."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Affixes:
    """Ids that close one chunk and open the next, so that each reads like a whole prompt."""

    prefix: tuple[int, ...]
    suffix: tuple[int, ...]


def split_chunks(ids: Sequence[int], max_chunk_length: int | None, affixes: Affixes) -> list[list[int]]:
    """`ids` (template included) in ceil(n / max_chunk_length) slices; None or a length below 1 means one chunk."""
    if max_chunk_length is None or max_chunk_length < 1:
        return [list(ids)]
    return split_into(ids, -(-len(ids) // max_chunk_length), affixes)


def split_into(ids: Sequence[int], count: int, affixes: Affixes) -> list[list[int]]:
    """Slices of ceil(n / count) ids, the last one shorter; fewer than `count` can result (section 19.4).

    Affixes are added where a slice does not touch the document's own ends.
    """
    if count <= 1:
        return [list(ids)]
    step = -(-len(ids) // count)
    starts = range(0, len(ids), step)
    return [
        [
            *(affixes.prefix if start > 0 else ()),
            *ids[start : start + step],
            *(affixes.suffix if start + step < len(ids) else ()),
        ]
        for start in starts
    ]


def sample_chunk_count(
    length: int,
    weights: Mapping[int, float],
    *,
    min_chunk_length: int,
    max_chunk_length: int,
    generator: random.Random,
) -> int:
    """A chunk count for training, drawn by `weights` among those that keep slices between the two lengths.

    Raises ValueError when none does.
    """
    low, high = -(-length // max_chunk_length), -(-length // min_chunk_length)
    feasible = {count: weight for count, weight in weights.items() if low <= count <= high and weight > 0}
    if not feasible:
        raise ValueError(f"no feasible chunk count: {length} ids need {low} to {high} chunks, of {sorted(weights)}")
    return generator.choices(list(feasible), weights=list(feasible.values()))[0]
