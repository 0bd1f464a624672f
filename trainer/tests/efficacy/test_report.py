import pytest

from imprint_trainer.efficacy.report import row_of, rows_of, table_of


def case(group: str, change: float, *, half: float = 0.01, **more: object) -> dict[str, object]:
    return {
        "group": group,
        "sessions": 1,
        "settings": "learn",
        "change": change,
        "interval": [change - half, change + half],
        "unrelated": {"other": 0.002},
        "neutral": {"mixed": -0.01, "shell": 0.03},
        **more,
    }


def test_every_group_counts_the_same_and_the_interval_is_over_groups() -> None:
    row = row_of([case("a", -0.3), case("b", -0.1), case("c", 0.1)], seed=7)
    assert row["groups"] == 3
    assert row["change"] == pytest.approx(-0.1)
    low, high = row["interval"]
    assert -0.3 <= low < -0.1 < high < 0.11


def test_a_group_is_helped_or_harmed_where_its_whole_interval_says_so() -> None:
    row = row_of([case("a", -0.3), case("b", -0.005), case("c", 0.1), case("d", -0.2, interval=None)], seed=7)
    assert (row["below_zero"], row["above_zero"]) == (1, 1)


def test_harm_elsewhere_is_the_worst_of_any_group_and_neutral_text_is_averaged_over_texts() -> None:
    row = row_of([case("a", -0.3), case("b", -0.1, unrelated={"other": 0.02, "third": 0.0})], seed=7)
    assert row["unrelated_worst"] == 0.02
    assert row["neutral_worst"] == pytest.approx(0.01)


def test_settings_and_numbers_of_sessions_have_rows_of_their_own() -> None:
    context = {"group": "a", "sessions": 1, "settings": "context", "change": -0.08}
    rows = rows_of([case("a", -0.3), case("a", -0.4, sessions=4), context], seed=7)
    assert [(row["settings"], row["sessions"]) for row in rows] == [("context", 1), ("learn", 1), ("learn", 4)]
    table = table_of(rows)
    assert "| context | 1 | 1 | -8.0% (- to -) | 0, 0 | -, - | -, - |" in table
