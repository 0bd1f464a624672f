"""Measures windows and next actions of one model after the other, and keeps what is finished between evaluations."""

import hashlib
import json
import math
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple, TypeVar

from pydantic import TypeAdapter

from imprint_trainer.data.windows import Window
from imprint_trainer.errors import AdapterNotFinite
from imprint_trainer.evaluation.actions import TOKENS, Action, Judged, format_of, judged, read_answer
from imprint_trainer.evaluation.kinds import Kind
from imprint_trainer.generation.generate import generate
from imprint_trainer.lora.loss import token_losses
from imprint_trainer.models.causal_lm import CausalLM, LoadedBase
from imprint_trainer.publish.provenance import base_sha256, versions

T = TypeVar("T")


class Loss(NamedTuple):
    """Over some tokens: summed negative log likelihood in nats, how many they are, and how many are top-1 right."""

    nll: float
    tokens: int
    top1: int

    @property
    def mean(self) -> float:
        """Nats per token; 0 where there are none."""
        return self.nll / self.tokens if self.tokens else 0.0

    @property
    def top1_share(self) -> float:
        return self.top1 / self.tokens if self.tokens else 0.0


class Measured(NamedTuple):
    """The targets of a window in order: the negative log likelihood of each in nats, and whether it is top-1 right."""

    nll: list[float]
    hits: list[bool]


def total(losses: Iterable[Loss]) -> Loss:
    kept = list(losses)
    return Loss(sum(one.nll for one in kept), sum(one.tokens for one in kept), sum(one.top1 for one in kept))


@dataclass(frozen=True)
class Cache:
    """A folder of small JSON files, each named by the SHA-256 of all that decides what it holds."""

    folder: Path

    def kept(self, facts: Mapping[str, Any], shape: TypeAdapter[T], measure: Callable[[], T]) -> T:
        """What was measured under the same `facts`, or else what `measure` gives. A damaged file counts for none."""
        name = sha256_of_json(facts)
        path = self.folder / f"{name}.json"
        found = self._read(path, name, shape)
        if found is None:
            found = measure()
            value = shape.dump_python(found, mode="json")
            self._write(path, {"value": value, "sha256": sha256_of_json([name, value])})
        return found

    def _read(self, path: Path, name: str, shape: TypeAdapter[T]) -> T | None:
        try:
            entry = json.loads(path.read_text(encoding="utf-8"))
            if entry["sha256"] == sha256_of_json([name, entry["value"]]):
                return shape.validate_json(json.dumps(entry["value"]), strict=True)
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            pass
        return None

    def _write(self, path: Path, entry: Mapping[str, Any]) -> None:
        """As a whole: two workers may write at once."""
        self.folder.mkdir(parents=True, exist_ok=True)
        descriptor, part = tempfile.mkstemp(dir=self.folder, prefix=".part-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(entry, file, allow_nan=False)
            Path(part).replace(path)
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise


def sha256_of_json(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


VERSION = 4  # of what is kept: raised when this code measures or judges differently
AT_ONCE = 16  # windows of a measurement: what is lost when an evaluation is interrupted
ANSWERS_AT_ONCE = 8  # answers that are generated side by side

DIGITS = 6  # of a token's loss that is kept

WINDOWS = TypeAdapter(list[Measured])
JUDGED = TypeAdapter(list[Judged])


class Marked(NamedTuple):
    """A window and the kind of each of its targets, in order."""

    window: Window
    kinds: Sequence[Kind]

    def by_kind(self, measured: Measured) -> dict[Kind, Loss]:
        found: dict[Kind, Loss] = {}
        for kind, nll, hit in zip(self.kinds, *measured, strict=True):
            found[kind] = total([found.get(kind, Loss(0.0, 0, 0)), Loss(nll, 1, hit)])
        return found

    def by_turn(self, measured: Measured) -> list[float]:
        """The mean loss of each turn of the agent: of each run of targets that nothing stands between."""
        losses = iter(measured.nll)
        runs = groupby(self.window.supervised[1:])
        return [fmean(islice(losses, len(list(run)))) for supervised, run in runs if supervised]


class Subject(NamedTuple):
    """A model that is measured: the base, or the base with the adapter of this digest on it."""

    model: CausalLM
    adapter: str | None


@dataclass(frozen=True)
class Bench:
    """`tick` is told before each measurement what is measured; `stop_if_cancelled` is asked between windows, tokens."""

    base: LoadedBase
    cache: Cache
    tick: Callable[[str], None]
    stop_if_cancelled: Callable[[], None]

    def losses(self, subject: Subject, windows: Sequence[Marked], what: str) -> list[Measured]:
        """For each window the losses of its targets. Raises AdapterNotFinite, Cancelled."""
        found: list[Measured] = []
        for part in parts(windows, AT_ONCE):
            self.tick(what)
            marks = [[one.window.input_ids, one.window.supervised, one.kinds] for one in part]
            facts = self._facts(subject, losses=[sha256_of_json(one) for one in marks])
            kept = self.cache.kept(facts, WINDOWS, partial(self._windows, subject, part))
            found += kept
        return found

    def actions(self, subject: Subject, actions: Sequence[Action], what: str) -> list[Judged]:
        """Greedy answers where each action begins, judged; nothing is kept of what they say. Raises Cancelled."""
        order = sorted(range(len(actions)), key=lambda index: (len(actions[index].prompt), index))  # little padding
        found: dict[int, Judged] = {}
        for part in parts(order, ANSWERS_AT_ONCE):
            self.tick(what)
            asked = [actions[index] for index in part]
            facts = self._facts(subject, actions=[vars(action) for action in asked], tokens=TOKENS)
            kept = self.cache.kept(facts, JUDGED, partial(self._act, subject, asked))
            found |= zip(part, kept, strict=True)
        return [found[index] for index in range(len(actions))]

    def _act(self, subject: Subject, actions: Sequence[Action]) -> list[Judged]:
        tokenizer, prompts = self.base.tokenizer, [action.prompt for action in actions]
        form = format_of(tokenizer)
        answers = generate(subject.model, self.base, prompts, TOKENS, self.stop_if_cancelled)
        return [
            judged(action, read_answer(answer, tokenizer, form, action.schemas))
            for action, answer in zip(actions, answers, strict=True)
        ]

    def _windows(self, subject: Subject, windows: Sequence[Marked]) -> list[Measured]:
        return [self._window(subject, one.window) for one in windows]

    def _window(self, subject: Subject, window: Window) -> Measured:
        self.stop_if_cancelled()
        nll, hits = token_losses(subject.model, window, self.base.device)
        losses = nll.tolist()
        if not all(map(math.isfinite, losses)):
            raise AdapterNotFinite("the loss with the adapter is not finite")
        return Measured([round(loss, DIGITS) for loss in losses], hits.tolist())

    def _facts(self, subject: Subject, **more: Any) -> dict[str, Any]:
        return {
            "version": VERSION,
            "base": base_sha256(self.base),
            "quantization": [
                self.base.quantization,
                self.base.dequantised,
                self.base.computes_in,
                self.base.device.type,
            ],
            "versions": versions(),
            "adapter": subject.adapter,
            **more,
        }


def loss_ticks(windows: int) -> int:
    """How many measurements the losses of so many windows are."""
    return math.ceil(windows / AT_ONCE)


def action_ticks(actions: int) -> int:
    return math.ceil(actions / ANSWERS_AT_ONCE)


def parts(items: Sequence[T], most: int) -> list[Sequence[T]]:
    return [items[start : start + most] for start in range(0, len(items), most)]
