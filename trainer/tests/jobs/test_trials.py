"""Which held-out text chooses, and which stays unseen."""

from hypothesis import given
from hypothesis import strategies as st

from imprint_trainer.data.holdout import SMALLEST_PART, HeldOut
from imprint_trainer.data.windows import Window
from imprint_trainer.jobs.trials import parted


def held(*sessions: list[int]) -> HeldOut:
    """Sessions s0, s1 ... of windows with so many supervised tokens."""
    windows = [
        (f"s{at}", Window(tuple(range(count + 1)), (False,) + (True,) * count))
        for at, counts in enumerate(sessions)
        for count in counts
    ]
    return HeldOut(tuple(f"s{at}" for at in range(len(sessions))), tuple(windows))


COUNTS = st.lists(st.lists(st.integers(1, 1500), min_size=1, max_size=5), min_size=1, max_size=6)


@given(COUNTS)
def test_every_window_is_on_one_side_and_no_session_on_both(counts: list[list[int]]) -> None:
    held_out = held(*counts)
    texts = parted(held_out)
    sides = [texts.choosing, *([texts.unseen] if texts.unseen else [])]
    assert sum((side.windows for side in sides), ()) == held_out.windows
    if texts.unseen:
        assert all(sum(w.supervised_count for _, w in side.windows) >= SMALLEST_PART for side in sides)
        assert len(counts) == 1 or not set(texts.choosing.sessions) & set(texts.unseen.sessions)


def test_the_later_sessions_stay_unseen() -> None:
    texts = parted(held([600], [600], [600], [600]))
    assert texts.choosing.sessions == ("s0", "s1")
    assert texts.proving.sessions == ("s2", "s3")


def test_of_one_session_the_later_windows_stay_unseen() -> None:
    texts = parted(held([400, 400, 400, 400]))
    assert texts.unseen is not None
    assert (len(texts.choosing.windows), len(texts.unseen.windows)) == (2, 2)


def test_too_little_text_is_not_parted() -> None:
    texts = parted(held([SMALLEST_PART, SMALLEST_PART - 1]))
    assert texts.unseen is None
    assert texts.proving is texts.choosing
