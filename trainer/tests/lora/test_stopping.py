from hypothesis import given
from hypothesis import strategies as st

from imprint_trainer.lora.stopping import PATIENCE, cool_down, should_cool

losses = st.floats(0.01, 20)


LONG = 100


def test_it_goes_on_while_the_loss_falls() -> None:
    assert all(should_cool([2.0, 1.8, 1.5, 1.2, 1.0][:count], LONG) is None for count in range(1, 6))


def test_it_cools_down_when_the_session_is_learned() -> None:
    assert should_cool([2.0, 1.0, 0.3], LONG) == "learned"


def test_it_cools_down_after_epochs_without_improvement() -> None:
    history = [2.0, 1.5] + [1.49] * PATIENCE
    assert should_cool(history[:-1], LONG) is None
    assert should_cool(history, LONG) == "no_improvement"


@given(st.integers(1, 60))
def test_the_cool_down_fits_into_the_budget(max_epochs: int) -> None:
    falling = [0.976**epoch for epoch in range(max_epochs)]
    reasons = [should_cool(falling[: epoch + 1], max_epochs) for epoch in range(max_epochs)]
    first = next(epoch for epoch, reason in enumerate(reasons, start=1) if reason is not None)
    assert first <= max_epochs <= first + cool_down(first)


@given(st.lists(losses, min_size=1, max_size=30))
def test_it_depends_on_the_losses_alone(history: list[float]) -> None:
    assert should_cool(history, LONG) == should_cool(list(history), LONG)
    if len(history) <= PATIENCE and history[-1] > 0.3 * history[0]:
        assert should_cool(history, LONG) is None
