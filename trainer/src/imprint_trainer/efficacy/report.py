"""What the cases of a study amount to: one row for each setting and number of sessions."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from imprint_trainer.resampling import interval

Case = Mapping[str, Any]


def rows_of(cases: Sequence[Case], seed: int) -> list[dict[str, Any]]:
    """Means over groups, each group counting the same, with a bootstrap interval over groups."""
    keys = dict.fromkeys((case["settings"], case["sessions"]) for case in cases)
    return [row_of([c for c in cases if (c["settings"], c["sessions"]) == key], seed) for key in sorted(keys)]


def row_of(cases: Sequence[Case], seed: int) -> dict[str, Any]:
    changes = [case["change"] for case in cases]
    trained = [case for case in cases if "unrelated" in case]
    elsewhere = [change for case in trained for change in case["unrelated"].values()]
    neutral = [fmean(case["neutral"].values()) for case in trained]
    return {
        "settings": cases[0]["settings"],
        "sessions": cases[0]["sessions"],
        "groups": len(cases),
        "change": fmean(changes),
        "interval": interval(changes, fmean, seed),
        "below_zero": sum(bool(case.get("interval")) and case["interval"][1] < 0 for case in cases),
        "above_zero": sum(bool(case.get("interval")) and case["interval"][0] > 0 for case in cases),
        "unrelated": fmean(elsewhere) if elsewhere else None,
        "unrelated_worst": max(elsewhere) if elsewhere else None,
        "neutral": fmean(neutral) if neutral else None,
        "neutral_worst": max(neutral) if neutral else None,
    }


def table_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """Markdown."""
    lines = [
        "| settings | sessions | groups | another session of the repository | helps, harms | unrelated: mean, worst "
        "| neutral: mean, worst |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        low, high = row["interval"] or (None, None)
        lines.append(
            f"| {row['settings']} | {row['sessions']} | {row['groups']} | {share(row['change'])} "
            f"({share(low)} to {share(high)}) | {row['below_zero']}, {row['above_zero']} "
            f"| {share(row['unrelated'])}, {share(row['unrelated_worst'])} "
            f"| {share(row['neutral'])}, {share(row['neutral_worst'])} |"
        )
    return "\n".join(lines)


def share(value: float | None) -> str:
    return "-" if value is None else f"{value:+.1%}"
