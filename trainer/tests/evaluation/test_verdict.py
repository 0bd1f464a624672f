import random
from dataclasses import replace
from fractions import Fraction
from itertools import product
from statistics import fmean, median
from typing import Any

import pytest

from imprint_trainer.evaluation.actions import MEASURES
from imprint_trainer.evaluation.evaluate import judgement
from imprint_trainer.evaluation.measure import Loss
from imprint_trainer.evaluation.verdict import (
    MEDIAN_NATS,
    MEDIAN_SHARE,
    Evidence,
    Median,
    compared,
    forgotten,
    p_value,
    paired,
    sentence_of,
    verdict_of,
)
from imprint_trainer.publish.losses import Interval, quantile


def answers(both: int, lost: int, gained: int) -> tuple[list[bool], list[bool]]:
    return [True] * (both + lost) + [False] * gained, [True] * both + [False] * lost + [True] * gained


def test_published_values() -> None:
    """R: binom.test(2, 12)$p.value, binom.test(0, 5)$p.value."""
    assert p_value(*answers(7, 2, 10)) == pytest.approx(0.03857421875)
    assert p_value(*answers(0, 0, 5)) == pytest.approx(0.0625)


@pytest.mark.parametrize("count", range(8))
def test_it_is_the_share_of_coin_tosses_that_are_as_uneven(count: int) -> None:
    tosses = list(product((0, 1), repeat=count))
    for lost in range(count + 1):
        uneven = sum(abs(2 * sum(toss) - count) >= abs(2 * lost - count) for toss in tosses)
        expected = float(Fraction(uneven, len(tosses)))
        assert p_value(*answers(3, lost, count - lost)) == pytest.approx(expected)


def test_equal_answers_say_nothing() -> None:
    assert p_value([True, False], [True, False]) == 1.0


def rows(differences: list[float], tokens: int = 10) -> tuple[list[Loss], list[Loss]]:
    """A base of 2 nats per token, and another row that differs by so many nats per token."""
    base = [Loss(2.0 * tokens, tokens, 0) for _ in differences]
    return base, [Loss((2.0 + difference) * tokens, tokens, 0) for difference in differences]


def test_the_change_is_weighted_by_tokens() -> None:
    base = [Loss(10.0, 10, 0), Loss(90.0, 90, 0)]
    change, _ = paired(base, [Loss(0.0, 10, 0), Loss(90.0, 90, 0)], ["a", "b"])
    assert change == pytest.approx(-0.1)


def test_equal_changes_have_an_interval_without_width() -> None:
    change, interval = paired(*rows([-0.5] * 4), list("abcd"))
    assert change == pytest.approx(-0.5)
    assert interval == (pytest.approx(-0.5), pytest.approx(-0.5))


def test_a_published_interval() -> None:
    """R: t.test(sleep$extra[11:20] - sleep$extra[1:10])$conf.int, Student's own data."""
    change, interval = paired(*rows([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]), list(range(10)))
    assert change == pytest.approx(1.58)
    assert interval == (pytest.approx(0.7001142, abs=1e-3), pytest.approx(2.4598858, abs=1e-3))


def test_the_interval_of_two_sessions_is_not_their_two_values() -> None:
    _, interval = paired(*rows([-1.0, -1.0, -0.5, -0.5]), ["a", "a", "b", "b"])
    assert interval == (pytest.approx(-0.75 - 12.706 * 0.25), pytest.approx(-0.75 + 12.706 * 0.25))
    _, of_longer = paired(*rows([-1.0, -1.0, -0.5, -0.5] * 20), ["a", "a", "b", "b"] * 20)
    assert of_longer == (pytest.approx(interval[0]), pytest.approx(interval[1]))


@pytest.mark.parametrize("count", [2, 3, 5, 8, 40])
def test_nineteen_intervals_in_twenty_hold_the_truth(count: int) -> None:
    source = random.Random(count)
    held = 0
    for _ in range(2000):
        _, interval = paired(*rows([source.gauss(-0.2, 0.5) for _ in range(count)]), list(range(count)))
        assert interval is not None
        held += interval[0] <= -0.2 <= interval[1]
    assert 0.935 < held / 2000 < 0.965


def test_one_session_has_no_interval() -> None:
    assert paired(*rows([-1.0]), ["a"]) == (-1.0, None)
    assert paired(*rows([-1.0, 0.0] * 50), ["a"] * 100) == (pytest.approx(-0.5), None)
    assert paired(*rows([]), []) == (0.0, None)


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1.0), (0.5, 2.5), (1.0, 4.0), (0.25, 1.75)])
def test_quantiles_lie_between_neighbours(share: float, expected: float) -> None:
    assert quantile([1.0, 2.0, 3.0, 4.0], share) == expected


def evidence(**changes: Any) -> Evidence:
    found = {"sessions": 5, "tokens": 2000, "change": -0.1, "share": -0.05, "interval": (-0.2, -0.01)}
    return Evidence(**{**found, "medians": [], "neutral_rise": 0.0, **changes})


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
        (-0.009, (-0.02, -0.01), 0.0, "no_evidence"),
        (0.009, (0.01, 0.02), 0.0, "no_evidence"),
    ],
)
def test_the_verdict_follows_change_interval_and_neutral_text(
    share: float, interval: Interval, rise: float, verdict: str
) -> None:
    assert verdict_of(evidence(share=share, interval=interval, neutral_rise=rise)) == verdict


@pytest.mark.parametrize("share", [-0.2, 0.2])
@pytest.mark.parametrize(("sessions", "tokens"), [(2, 392), (4, 90_000), (100, 1999), (1, 5000)])
def test_of_little_text_there_is_no_verdict_whatever_the_sign(sessions: int, tokens: int, share: float) -> None:
    interval = None if sessions == 1 else (share - 0.01, share + 0.01)
    few = evidence(sessions=sessions, tokens=tokens, share=share, interval=interval)
    assert verdict_of(few) == "too_little_to_tell"
    assert verdict_of(replace(few, neutral_rise=0.2)) == "harms"  # neutral text is there in full
    assert sentence_of("too_little_to_tell", few).startswith(
        "Too little to tell (fewer than 5 sessions or 2,000 tokens): "
    )


def test_the_rise_on_neutral_texts_is_that_of_their_mean() -> None:
    assert forgotten([1.0, 3.0], [1.2, 3.2]) == pytest.approx(0.1)


def test_the_sentence_names_the_sessions_the_tokens_and_the_figures() -> None:
    found = evidence(tokens=12_345, change=-0.2, share=-0.1, interval=(-0.3, -0.1), neutral_rise=0.012)
    assert sentence_of("helps", found) == (
        "It helps: on 5 sessions of 12,345 tokens that it was not trained on, the loss on the agent's tokens changes "
        "by -0.200 nats per token (-10.0%), 95 % interval -0.300 to -0.100, and that on neutral text by +1.2%."
    )
    alone = sentence_of("too_little_to_tell", evidence(sessions=1, tokens=392, interval=None))
    assert ": on 1 session of 392 tokens that" in alone
    assert "no interval of one session" in alone


def test_a_mean_that_falls_while_the_median_token_rises_is_no_evidence() -> None:
    """Nine tokens get worse by 0.05 nats; one that cost 9 nats costs 7, and the mean falls."""
    base, adapted = [0.2] * 9 + [9.0], [0.25] * 9 + [7.0]
    change = fmean(adapted) - fmean(base)
    risen = Median("token", median(base), median(adapted))
    found = evidence(change=change, share=change / fmean(base), medians=[risen, Median("turn", 1.0, 0.9)])
    assert change < -0.1
    assert verdict_of(found) == "no_evidence"
    assert verdict_of(replace(found, medians=[])) == "helps"
    assert sentence_of("no_evidence", found).endswith(
        " Mean and median disagree: the median token's by +0.050; a few tokens may decide the mean."
    )


def test_a_mean_that_rises_while_both_medians_fall_still_harms_and_says_so() -> None:
    fallen = [Median("token", 0.2, 0.1), Median("turn", 0.5, 0.4)]
    found = evidence(change=0.1, share=0.05, interval=(0.01, 0.2), medians=fallen)
    assert verdict_of(found) == "harms"
    assert "disagree: the median token's by -0.100 and the median turn's by -0.100;" in sentence_of("harms", found)


def test_medians_take_a_verdict_away_only_beyond_noise_and_against_the_mean() -> None:
    source = random.Random(5)
    for _ in range(2000):
        before, moved = source.uniform(0, 3), source.gauss(0, 0.05)
        change = source.choice([-1, 1]) * source.uniform(0.02, 1)
        interval = (change - 0.01, change + 0.01)
        median_of = Median(source.choice(["token", "turn"]), before, before + moved)
        found = evidence(change=change, share=change, interval=interval, medians=[median_of])
        is_noise = abs(median_of.after - before) <= max(MEDIAN_NATS, MEDIAN_SHARE * before)
        is_against = not is_noise and (moved > 0) != (change > 0)
        without = verdict_of(replace(found, medians=[]))
        assert verdict_of(found) == ("no_evidence" if is_against and without == "helps" else without)
        assert ("disagree" in sentence_of(without, found)) == is_against


def called(right: int, of: int = 24) -> list[dict[str, bool]]:
    return [dict.fromkeys(MEASURES, place < right) for place in range(of)]


@pytest.mark.parametrize(
    ("base", "adapter", "verdict"),
    [(12, 12, "helps"), (12, 20, "helps"), (12, 7, "helps"), (12, 6, "no_evidence"), (12, 0, "no_evidence")],
)
def test_a_lower_loss_is_no_evidence_where_surely_fewer_next_calls_are_as_recorded(
    base: int, adapter: int, verdict: str
) -> None:
    found = evidence(actions=compared(called(base), called(adapter)))
    assert verdict_of(found) == verdict
    assert (" Fewer next calls are as recorded." in sentence_of("helps", found)) == (verdict == "no_evidence")
    assert verdict_of(replace(found, share=0.05, interval=(0.01, 0.2))) == "harms"


def test_an_evaluations_verdict_reads_its_next_calls() -> None:
    row = {"loss": 2.0, "median": 1.0, "median_of_turns": 1.0}
    rows = [row, {**row, "tokens": 2000, "change": -0.1, "interval": [-0.2, -0.01]}]
    for adapter, verdict in ((12, "helps"), (0, "no_evidence")):
        judged = judgement(rows, [], compared(called(12), called(adapter)), sessions=5)
        assert judged["verdict"] == verdict
