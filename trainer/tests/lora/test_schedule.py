import pytest
from hypothesis import given
from hypothesis import strategies as st

from imprint_trainer.lora.schedule import learning_rate


@given(st.integers(1, 500), st.floats(0, 0.5), st.booleans())
def test_no_step_is_wasted_and_none_exceeds_the_peak(max_steps: int, warmup: float, open_ended: bool) -> None:
    rates = [
        learning_rate(step, peak=0.1, max_steps=max_steps, warmup_fraction=warmup, open_ended=open_ended)
        for step in range(max_steps)
    ]
    assert all(0 < rate <= 0.1 for rate in rates)


def test_the_rate_warms_up_and_then_falls_to_nearly_zero_or_stays() -> None:
    def at(step: int, open_ended: bool) -> float:
        return learning_rate(step, peak=1.0, max_steps=100, warmup_fraction=0.1, open_ended=open_ended)

    assert [at(step, False) for step in (0, 4, 9)] == pytest.approx([0.1, 0.5, 1.0])
    assert at(55, False) == pytest.approx(0.5)
    assert at(99, False) < 1e-3
    assert at(99, True) == 1.0


def test_an_open_ended_rate_falls_in_a_line_while_it_cools() -> None:
    cooling = range(10, 14)
    rates = [
        learning_rate(step, peak=1.0, max_steps=100, warmup_fraction=0, open_ended=True, cooling=cooling)
        for step in range(8, 14)
    ]
    assert rates == pytest.approx([1, 1, 0.8, 0.6, 0.4, 0.2])
