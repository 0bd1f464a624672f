from hypothesis import given
from hypothesis import strategies as st

from imprint_trainer.lora.stopping import PATIENCE, should_stop

losses = st.floats(0.01, 20)


def test_it_goes_on_while_the_loss_falls() -> None:
    assert all(should_stop([2.0, 1.8, 1.5, 1.2, 1.0][:count]) is None for count in range(1, 6))


def test_it_stops_when_the_session_is_learned() -> None:
    stop = should_stop([2.0, 1.0, 0.3])
    assert stop is not None
    assert (stop.reason, stop.epoch) == ("learned", 3)


def test_it_stops_after_epochs_without_improvement() -> None:
    history = [2.0, 1.5] + [1.49] * PATIENCE
    assert should_stop(history[:-1]) is None
    stop = should_stop(history)
    assert stop is not None
    assert stop.reason == "no_improvement"


@given(st.lists(losses, min_size=1, max_size=30))
def test_it_depends_on_the_losses_alone(history: list[float]) -> None:
    assert should_stop(history) == should_stop(list(history))
    if len(history) <= PATIENCE and history[-1] > 0.22 * history[0]:
        assert should_stop(history) is None
