import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imprint_trainer.doc_to_lora.chunks import Affixes, sample_chunk_count, split_chunks, split_into

AFFIXES = Affixes((-1, -2), (-3,))


@given(n=st.integers(0, 200), longest=st.integers(-2, 50))
def test_slices_are_short_enough_and_make_up_the_document(n: int, longest: int) -> None:
    chunks = split_chunks(range(n), longest, AFFIXES)
    assert [i for chunk in chunks for i in chunk if i >= 0] == list(range(n))
    if longest >= 1:
        assert len(chunks) == max(1, -(-n // longest))
        assert all(sum(i >= 0 for i in chunk) <= longest for chunk in chunks)
    else:
        assert len(chunks) == 1


@given(n=st.integers(1, 200), count=st.integers(1, 30))
def test_affixes_stand_where_the_document_was_cut_and_nowhere_else(n: int, count: int) -> None:
    chunks = split_into(range(n), count, AFFIXES)
    assert 1 <= len(chunks) <= count
    for index, chunk in enumerate(chunks):
        assert (chunk[:2] == [-1, -2]) is (index > 0)
        assert (chunk[-1] == -3) is (index < len(chunks) - 1)


def test_no_length_means_one_chunk() -> None:
    assert split_chunks([5, 6, 7], None, AFFIXES) == [[5, 6, 7]]


@given(n=st.integers(1, 100), seed=st.integers(0, 99))
def test_sampled_counts_are_feasible(n: int, seed: int) -> None:
    weights = dict.fromkeys(range(1, 101), 1.0)
    count = sample_chunk_count(n, weights, min_chunk_length=3, max_chunk_length=8, generator=random.Random(seed))
    assert -(-n // 8) <= count <= -(-n // 3)


def test_counts_are_drawn_by_their_weights() -> None:
    generator = random.Random(0)
    drawn = [
        sample_chunk_count(24, {3: 0.9, 4: 0.1, 5: 0.0}, min_chunk_length=3, max_chunk_length=8, generator=generator)
        for _ in range(1000)
    ]
    assert 850 < drawn.count(3) < 950
    assert drawn.count(5) == 0


def test_an_unreachable_count_is_an_error() -> None:
    with pytest.raises(ValueError, match="no feasible chunk count: 40 ids need 5 to 8 chunks"):
        sample_chunk_count(40, {2: 1.0}, min_chunk_length=5, max_chunk_length=8, generator=random.Random(0))
