"""The table of a hypernetwork: means with 95 % bootstrap intervals, the worst beside them, and the goals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from imprint_trainer.doc_to_lora.evaluation.lists import KINDS, SHORT
from imprint_trainer.doc_to_lora.evaluation.results import Results
from imprint_trainer.doc_to_lora.evaluation.session_cases import CHUNKS
from imprint_trainer.resampling import Interval, interval

SEED = 0
NO_WORSE = 0.01  # the most that any session may lose
AFTER = {1: -0.05, 4: -0.05, 16: -0.03}
SECONDS = {512: 2.0, 16_384: 15.0}


@dataclass(frozen=True)
class Row:
    """`value` is a mean: of changes of the loss as shares of the base's, of shares of answers, or of seconds."""

    row: str
    count: int
    value: float
    interval: Interval | None
    worst: float | None
    goal: str
    met: bool | None


def rows_of(results: Results) -> list[Row]:
    sessions = {key: case for key, case in results.items() if key[0] == "session"}
    rows: list[Row] = []
    for chunks in CHUNKS:
        rows += session_rows(chunks, {str(key[1:3]): case for key, case in sessions.items() if key[3] == chunks})
    return [*rows, *question_rows(results), *fact_rows(results), *second_rows(results), *refined_rows(results)]


def session_rows(chunks: int, cases: dict[str, dict[str, Any]]) -> Iterator[Row]:
    """`cases`: by group and session. Intervals draw groups, since sessions of one repository are alike."""
    if not cases:
        return

    def row(name: str, found: dict[str, float], worst: float | None, most: float | None = None) -> Row:
        groups: dict[str, list[float]] = {}
        for session, value in found.items():
            groups.setdefault(session.split("'")[1], []).append(value)
        units = list(groups.values())
        mean = _mean_of_groups(units)
        limit = "" if most is None else f"<= {most:+.0%}"
        return Row(
            f"{name}, {chunks} chunks",
            len(found),
            mean,
            interval(units, _mean_of_groups, SEED),
            worst,
            limit,
            None if most is None else mean <= most,
        )

    def shares(name: str) -> dict[str, float]:
        return {one: case[name] for one, case in cases.items()}

    def against_base(name: str) -> dict[str, float]:
        return {one: case[name] / case["base"] - 1 for one, case in cases.items() if case.get(name) is not None}

    own = against_base("adapter")
    after = row("what follows in the session", own, max(own.values()), AFTER[chunks])
    met = bool(after.met) and max(own.values()) <= NO_WORSE
    yield Row(**vars(after) | {"goal": f"{after.goal}, worst <= {NO_WORSE:+.0%}", "met": met})
    beside = {
        "- with an unrelated session's adapter": against_base("unrelated"),
        "- base with the text in context": shares("context"),
        "- LoRA of the text": against_base("lora"),
    }
    for label, found in beside.items():
        if found:
            yield row(label, found, max(found.values()))
    if trained := {one: case["lora_seconds"] for one, case in cases.items() if "lora_seconds" in case}:
        yield Row(
            f"- seconds of that LoRA, {chunks} chunks", len(trained), fmean(trained.values()), None, None, "", None
        )
    read = shares("read")
    yield row("own agent tokens of what was read", read, max(read.values()), -0.10)
    for name, label, most in (("others", "other sessions", 0.01), ("neutral", "neutral texts", 0.02)):
        changes = {one: list(case[name].values()) for one, case in cases.items() if case[name]}
        if changes:
            worst = max(max(values) for values in changes.values())
            yield row(label, {one: fmean(values) for one, values in changes.items()}, worst, most)
    if any(case["scale"] != 1 for case in cases.values()):
        refused = [float(case["scale"] == 0) for case in cases.values()]
        yield share_row(f"adapters refused, {chunks} chunks", refused)


def question_rows(results: Results) -> Iterator[Row]:
    base = [right for key, case in results.items() if key[0] == "base answers" for right in case["right"]]
    if base:
        yield share_row("questions that the base answers right", base)
    for source in ("sessions", "facts"):
        cases = [case for key, case in results.items() if key[:2] == ("questions", source)]
        if cases:
            right = [one for case in cases for one in case["right"]]
            leaked = [one for case in cases for one in case["leaked"]]
            yield share_row(f"- of them still right, adapters of {source}", right, least=0.95)
            yield share_row(f"- answers that say the document's values, {source}", leaked, most=0.0)


def fact_rows(results: Results) -> Iterator[Row]:
    cases = [case for key, case in results.items() if key[0] == "facts"]
    if not cases:
        return

    def said(field: str, kinds: Sequence[str]) -> list[bool]:
        pairs = ((kind, one) for case in cases for kind, one in zip(case["kinds"], case[field], strict=True))
        return [one for kind, one in pairs if kind in kinds]

    yield share_row("facts: numbers and words", said("right", SHORT), least=0.70)
    yield share_row("facts: files, commands, paths, versions", said("right", [*set(KINDS) - set(SHORT)]), least=0.50)
    for kind in KINDS:
        yield share_row(f"- {kind}", said("right", [kind]))
    yield share_row("- base without adapter", said("base", KINDS))
    yield share_row("own fact at another entity's question", said("elsewhere", KINDS), most=0.10)


def second_rows(results: Results) -> Iterator[Row]:
    for key, case in results.items():
        if key[0] == "seconds":
            value, most = median(case["seconds"]), SECONDS[int(key[1])]
            name = f"seconds to a proved adapter, {key[1]} tokens"
            yield Row(name, len(case["seconds"]), value, None, max(case["seconds"]), f"<= {most:g} s", value <= most)


def refined_rows(results: Results) -> Iterator[Row]:
    """Of each variant and number of chunks: what follows, what was read, neutral texts, and processor seconds."""
    cases = [(key, case["variants"]) for key, case in results.items() if key[0] == "refined"]
    for chunks in sorted({int(key[3]) for key, _ in cases}):
        of_chunks = [(key[1], variants) for key, variants in cases if key[3] == chunks]
        for variant in of_chunks[0][1]:
            groups: dict[str | int, list[dict[str, float]]] = {}
            for group, variants in of_chunks:
                groups.setdefault(group, []).append(variants[variant])
            for name, label in (("rest", "what follows"), ("read", "what was read"), ("neutral", "neutral texts")):
                units = [[one[name] for one in found] for found in groups.values()]
                values = [value for unit in units for value in unit]
                between = interval(units, _mean_of_groups, SEED)
                row = f"{variant}: {label}, {chunks} chunks"
                yield Row(row, len(values), fmean(values), between, max(values), "", None)
            spent = [one["seconds"] for found in groups.values() for one in found]
            row = f"{variant}: processor seconds, {chunks} chunks"
            yield Row(row, len(spent), fmean(spent), None, max(spent), "", None)


def share_row(name: str, found: Sequence[float], *, least: float | None = None, most: float | None = None) -> Row:
    values = [float(one) for one in found]
    mean = fmean(values)
    goal = f">= {least:.2f}" if least is not None else f"<= {most:.2f}" if most is not None else ""
    met = None if not goal else mean >= least if least is not None else mean <= (most or 0.0)
    return Row(name, len(values), mean, interval(values, fmean, SEED), None, goal, met)


def table_of(rows: Sequence[Row]) -> str:
    """Markdown."""
    lines = ["| row | of | mean (95 % interval) | worst | goal | met |", "|---|---|---|---|---|---|"]
    for row in rows:
        show = _shown(row)
        between = f" ({show(row.interval[0])} to {show(row.interval[1])})" if row.interval else ""
        worst = "" if row.worst is None else show(row.worst)
        met = "" if row.met is None else "yes" if row.met else "no"
        lines.append(f"| {row.row} | {row.count} | {show(row.value)}{between} | {worst} | {row.goal} | {met} |")
    return "\n".join(lines)


def _shown(row: Row) -> Any:
    if "seconds" in row.row:
        return "{:.1f}".format
    return ("{:+.1%}" if "chunks" in row.row and "refused" not in row.row else "{:.3f}").format


def _mean_of_groups(units: Sequence[Sequence[float]]) -> float:
    return fmean([value for unit in units for value in unit])
