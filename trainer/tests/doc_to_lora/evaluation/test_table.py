import pytest

from imprint_trainer.doc_to_lora.evaluation.lists import KINDS
from imprint_trainer.doc_to_lora.evaluation.results import Results
from imprint_trainer.doc_to_lora.evaluation.table import Row, rows_of, table_of


def case(adapter: float, **changes: object) -> dict[str, object]:
    quiet = {"unrelated": 2.0, "context": -0.1, "read": -0.2, "others": {"b/1": 0.0}, "neutral": {"sql": 0.01}}
    return {"scale": 1.0, "base": 2.0, "adapter": adapter, **quiet, **changes}


def table(results: Results) -> dict[str, Row]:
    return {row.row: row for row in rows_of(results)}


def test_means_worst_and_goals_of_sessions() -> None:
    rows = table({("session", "a", "1", 4): case(1.8), ("session", "b", "1", 4): case(1.9)})
    after = rows["what follows in the session, 4 chunks"]
    assert after.value == pytest.approx(-0.075)
    assert after.worst == pytest.approx(-0.05)
    assert after.interval == pytest.approx((-0.1, -0.05))
    assert after.met
    assert rows["other sessions, 4 chunks"].met
    assert rows["own agent tokens of what was read, 4 chunks"].met
    assert not [name for name in rows if "LoRA" in name or "16 chunks" in name or "refused" in name]


def test_one_session_that_gets_worse_misses_the_goal() -> None:
    sessions: Results = {("session", group, "1", 1): case(1.6) for group in "abcdef"}
    assert table(sessions)["what follows in the session, 1 chunks"].met
    sessions["session", "g", "1", 1] = case(2.03)
    assert not table(sessions)["what follows in the session, 1 chunks"].met


def test_intervals_draw_repositories() -> None:
    alone: Results = {("session", "a", str(number), 1): case(1.5 + number / 10) for number in range(5)}
    assert table(alone)["what follows in the session, 1 chunks"].interval is None
    several: Results = {("session", str(number), "1", 1): case(1.5 + number / 10) for number in range(5)}
    low, high = table(several)["what follows in the session, 1 chunks"].interval or (0, 0)
    assert low < -0.15 < high
    assert rows_of(several) == rows_of(several)


def test_shares_of_facts_and_questions() -> None:
    rows = table(
        {
            ("base answers", 0): {"right": [True, True, False, True]},
            ("questions", "facts", 0): {"right": [True, True, False], "leaked": [False, False, True]},
            ("facts", 0, 0): {
                "kinds": list(KINDS),
                "right": [True, True, False, False, True, True],
                "base": [False] * 6,
                "elsewhere": [True] + [False] * 5,
            },
        }
    )
    assert rows["questions that the base answers right"].value == 0.75
    assert rows["- of them still right, adapters of facts"].value == pytest.approx(2 / 3)
    assert rows["- of them still right, adapters of facts"].met is False
    assert rows["- answers that say the document's values, facts"].met is False
    assert rows["facts: numbers and words"].value == 1.0
    assert rows["facts: files, commands, paths, versions"].met
    assert rows["own fact at another entity's question"].met is False
    assert rows["- base without adapter"].interval == (0.0, 0.0)


def test_refused_adapters_and_seconds_are_shown() -> None:
    rows = rows_of({("session", "a", "1", 1): case(2.0, scale=0.0), ("seconds", 512): {"seconds": [1.0, 3.0, 1.5]}})
    shown = table_of(rows)
    assert "| adapters refused, 1 chunks | 1 | 1.000 |" in shown
    assert "| seconds to a proved adapter, 512 tokens | 3 | 1.5 | 3.0 | <= 2 s | yes |" in shown
