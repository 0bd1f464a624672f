import pytest

from imprint_trainer.evaluation.verdict import forgotten, sentence_of, verdict_of
from imprint_trainer.resampling import Interval


@pytest.mark.parametrize(
    ("share", "interval", "rise", "verdict"),
    [
        (-0.05, (-0.2, -0.01), 0.0, "helps"),
        (-0.05, (-0.2, -0.01), 0.05, "helps"),
        (-0.05, (-0.2, -0.01), 0.051, "no_evidence"),
        (-0.05, (-0.2, -0.01), 0.10, "no_evidence"),
        (-0.05, (-0.2, -0.01), 0.101, "harms"),
        (-0.05, (-0.2, 0.0), 0.0, "no_evidence"),
        (0.05, (0.0, 0.2), 0.0, "no_evidence"),
        (0.05, (0.01, 0.2), -0.1, "harms"),
        (-0.05, None, 0.0, "no_evidence"),
        (-0.05, None, 0.2, "harms"),
        (-0.009, (-0.02, -0.01), 0.0, "no_evidence"),
        (0.009, (0.01, 0.02), 0.0, "no_evidence"),
    ],
)
def test_the_verdict_follows_change_interval_and_neutral_text(
    share: float, interval: Interval | None, rise: float, verdict: str
) -> None:
    assert verdict_of(share, interval, rise) == verdict


def test_the_rise_on_neutral_texts_is_that_of_their_mean() -> None:
    assert forgotten([1.0, 3.0], [1.2, 3.2]) == pytest.approx(0.1)


def test_the_sentence_names_the_sessions_and_the_figures() -> None:
    said = sentence_of("helps", sessions=3, change=-0.2, share=-0.1, interval=(-0.3, -0.1), neutral_rise=0.012)
    assert said == (
        "It helps: on 3 sessions that it was not trained on, the loss on the agent's tokens changes by -0.200 nats per "
        "token (-10.0%), 95 % interval -0.300 to -0.100, and that on neutral text by +1.2%."
    )
    alone = sentence_of("no_evidence", sessions=1, change=0.1, share=0.05, interval=None, neutral_rise=0.0)
    assert alone.startswith("No evidence that it helps: on 1 session that")
    assert "too few windows for an interval" in alone
