from hypothesis import given
from hypothesis import strategies as st

from imprint_trainer.lora.parallel.shares import processes_of, shares

lengths = st.lists(st.integers(1, 2048), min_size=1, max_size=16)


@given(lengths, st.integers(1, 8))
def test_each_window_is_computed_once_and_the_first_process_has_one(lengths: list[int], processes: int) -> None:
    given_out = shares(lengths, processes)
    assert len(given_out) == processes
    assert sorted(sum(given_out, [])) == list(range(len(lengths)))
    assert given_out[0]


@given(lengths, st.integers(1, 8))
def test_nobody_has_more_than_the_mean_and_one_window(lengths: list[int], processes: int) -> None:
    most = max(sum(lengths[at] for at in share) for share in shares(lengths, processes))
    assert most <= sum(lengths) / processes + max(lengths)


def test_processes_are_as_many_as_have_windows_cards_and_memory() -> None:
    assert processes_of(4, windows=8, cards=None, need_mb=1000.0, have_mb=9000.0) == 4
    assert processes_of(4, windows=2, cards=None, need_mb=1000.0, have_mb=9000.0) == 2
    assert processes_of(4, windows=8, cards=None, need_mb=1000.0, have_mb=3999.0) == 3
    assert processes_of(4, windows=8, cards=None, need_mb=1000.0, have_mb=500.0) == 1
    assert processes_of(4, windows=8, cards=2, need_mb=1000.0, have_mb=500.0) == 2
    assert processes_of(4, windows=8, cards=None, need_mb=None, have_mb=0.0) == 4
