from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doc_to_lora.ridge.conftest import random_window
from imprint_trainer.data.windows import Window
from imprint_trainer.doc_to_lora.ridge.load import Ridge
from imprint_trainer.doc_to_lora.ridge.update import update_of, worth_reading
from imprint_trainer.errors import NothingToTrain


def window(lessons: int, others: int = 10) -> Window:
    return Window((7,) * (lessons + others), (False,) * others + (True,) * lessons)


@given(
    counts=st.lists(st.integers(0, 50), min_size=1, max_size=20),
    most=st.integers(1, 20),
    supervised=st.integers(1, 200),
)
def test_what_is_read_holds_the_most_lessons_of_so_many_windows(counts: list[int], most: int, supervised: int) -> None:
    windows = [window(count) for count in counts]
    chosen = worth_reading(windows, most, supervised)
    assert chosen == sorted(set(chosen))
    assert len(chosen) <= most
    left = [counts[index] for index in range(len(counts)) if index not in chosen]
    read = [counts[index] for index in chosen]
    assert all(count > 0 for count in read)
    assert not read or max(left, default=0) <= min(read)
    assert sum(read) - (min(read) if read else 0) < supervised
    if len(chosen) < min(most, sum(count > 0 for count in counts)):
        assert sum(read) >= supervised


def test_of_equals_the_later_ones_are_read() -> None:
    assert worth_reading([window(5), window(5), window(5)], 2, 100) == [1, 2]


def test_an_update_says_what_it_was_made_of(ridge: Ridge, model: Any) -> None:
    windows = [random_window(seed) for seed in range(2)]
    update = update_of(ridge, model, windows, rank=3)
    assert (update.tokens, update.chunks) == (80, 2)
    assert update.uncompressed_rank == 16
    assert update.factors["down_proj"].A.shape[1] == 3


def test_nothing_to_learn_from_is_refused(ridge: Ridge, model: Any) -> None:
    with pytest.raises(NothingToTrain):
        update_of(ridge, model, [Window((1, 2), (False, False))])
