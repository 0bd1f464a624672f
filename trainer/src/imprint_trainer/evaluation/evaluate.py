"""All measurements of an evaluation, model after model, and what they amount to."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from imprint_trainer.data.windows import Window
from imprint_trainer.evaluation.actions import Action
from imprint_trainer.evaluation.kinds import KINDS, Kind
from imprint_trainer.evaluation.measure import (
    Bench,
    Loss,
    Marked,
    Measured,
    Subject,
    action_ticks,
    loss_ticks,
    sha256_of_json,
    total,
)
from imprint_trainer.evaluation.verdict import Evidence, Median, compared, forgotten, paired, sentence_of, verdict_of
from imprint_trainer.files import sha256_of
from imprint_trainer.publish.losses import TEXTS, neutral_window
from imprint_trainer.publish.peft_format import CONFIG_FILE, WEIGHTS_FILE, attached


@dataclass(frozen=True)
class Adapter:
    adapter_id: str
    folder: Path

    @property
    def sha256(self) -> str:
        return sha256_of_json([sha256_of(self.folder / name) for name in (CONFIG_FILE, WEIGHTS_FILE)])


@dataclass(frozen=True)
class Tests:
    """`windows` and the session of each; `behind`: the same windows with what was trained on before them, or none."""

    windows: Sequence[Marked]
    sessions: Sequence[str]
    behind: Sequence[Window]
    actions: Sequence[Action]

    def measurements(self, *, control: bool) -> int:
        rows = 2 + control + bool(self.behind)
        return rows * loss_ticks(len(self.windows)) + 2 * loss_ticks(len(TEXTS)) + 2 * action_ticks(len(self.actions))


def evaluate(bench: Bench, tests: Tests, adapter: Adapter, control: Adapter | None) -> dict[str, Any]:
    """The contracts' `verdict`, `sentence`, `rows`, `neutral` and `actions` of an evaluation.

    Raises AdapterInvalid, AdapterNotFinite, Cancelled; no adapter is left on the base.
    """
    tokenizer = bench.base.tokenizer
    neutral = [neutral_window(tokenizer, name) for name in TEXTS]
    prose: Sequence[Kind] = ["prose"]
    unrelated = [Marked(window, [*prose] * window.supervised_count) for window in neutral]
    base = Subject(bench.base.model, None)
    bare = bench.losses(base, tests.windows, "loss of the base model")
    behind = [Marked(window, one.kinds) for window, one in zip(tests.behind, tests.windows, strict=False)]
    informed = bench.losses(base, behind, "loss of the base model that reads what was trained on")
    neutral_before = bench.losses(base, unrelated, "loss of the base model on neutral text")
    answers = {"base": bench.actions(base, tests.actions, "next actions of the base model")}
    with attached(bench.base, adapter.folder) as model:
        subject = Subject(model, adapter.sha256)
        adapted = bench.losses(subject, tests.windows, "loss with the adapter")
        neutral_after = bench.losses(subject, unrelated, "loss with the adapter on neutral text")
        answers["adapter"] = bench.actions(subject, tests.actions, "next actions with the adapter")
    rows = [row("base", None, bare, None, tests), row("adapter", adapter.adapter_id, adapted, bare, tests)]
    if control is not None:
        with attached(bench.base, control.folder) as model:
            compared_with = bench.losses(Subject(model, control.sha256), tests.windows, "loss with the control adapter")
        rows.append(row("control", control.adapter_id, compared_with, bare, tests))
    if behind:
        rows.append(row("context", None, informed, bare, tests))
    texts = [
        {"name": name, "loss_before": fmean(before.nll), "loss_after": fmean(after.nll)}
        for name, before, after in zip(TEXTS, neutral_before, neutral_after, strict=True)
    ]
    actions = compared(answers["base"], answers["adapter"])
    judged = judgement(rows, texts, actions, sessions=len(set(tests.sessions)))
    return {**judged, "rows": rows, "neutral": texts, "actions": actions}


def row(
    name: str, adapter_id: str | None, losses: Sequence[Measured], base: Sequence[Measured] | None, tests: Tests
) -> dict[str, Any]:
    """The contracts' `EvaluationRow`; `base` is None for the base's own."""
    windows = [whole(one) for one in losses]
    everything = total(windows)
    change, interval = (None, None) if base is None else paired([whole(one) for one in base], windows, tests.sessions)
    by_kind = [marked.by_kind(one) for marked, one in zip(tests.windows, losses, strict=True)]
    kinds = {kind: total(one[kind] for one in by_kind if kind in one) for kind in KINDS}
    turns = [turn for marked, one in zip(tests.windows, losses, strict=True) for turn in marked.by_turn(one)]
    sessions = {
        session: total(one for one, of in zip(windows, tests.sessions, strict=True) if of == session)
        for session in dict.fromkeys(tests.sessions)
    }
    return {
        "row": name,
        "adapter_id": adapter_id,
        "tokens": everything.tokens,
        "loss": everything.mean,
        "median": median(loss for one in losses for loss in one.nll),
        "median_of_turns": median(turns),
        "top1": everything.top1_share,
        "change": change,
        "interval": None if interval is None else list(interval),
        "kinds": [
            {"kind": kind, "tokens": one.tokens, "loss": one.mean, "top1": one.top1_share}
            for kind, one in kinds.items()
            if one.tokens
        ],
        "sessions": [{"session_id": session, "loss": one.mean} for session, one in sessions.items()],
    }


def whole(losses: Measured) -> Loss:
    return Loss(sum(losses.nll), len(losses.nll), sum(losses.hits))


def judgement(
    rows: list[dict[str, Any]], neutral: list[dict[str, Any]], actions: dict[str, Any] | None, *, sessions: int
) -> dict[str, str]:
    base, adapter = rows[0], rows[1]
    found = Evidence(
        sessions=sessions,
        tokens=adapter["tokens"],
        change=adapter["change"],
        share=adapter["change"] / base["loss"] if base["loss"] else 0.0,
        interval=None if adapter["interval"] is None else (adapter["interval"][0], adapter["interval"][1]),
        medians=[
            Median("token", base["median"], adapter["median"]),
            Median("turn", base["median_of_turns"], adapter["median_of_turns"]),
        ],
        neutral_rise=forgotten([one["loss_before"] for one in neutral], [one["loss_after"] for one in neutral]),
        actions=actions,
    )
    verdict = verdict_of(found)
    return {"verdict": verdict, "sentence": sentence_of(verdict, found)}
