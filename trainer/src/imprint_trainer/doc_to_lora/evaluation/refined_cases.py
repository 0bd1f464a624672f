"""An imprint after some steps of training, beside LoRA trainings from nothing: of the same time, and whole."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any, TypeVar

from imprint_trainer.data.windows import Window
from imprint_trainer.doc_to_lora.evaluation.imprints import Imprint
from imprint_trainer.doc_to_lora.evaluation.neutral import neutral_windows
from imprint_trainer.doc_to_lora.evaluation.passages import Passage, spread
from imprint_trainer.doc_to_lora.evaluation.results import Key, Results
from imprint_trainer.doc_to_lora.evaluation.session_cases import SessionCases
from imprint_trainer.doc_to_lora.refine import refine, turns
from imprint_trainer.doc_to_lora.ridge.update import MOST_SUPERVISED, MOST_WINDOWS, worth_reading
from imprint_trainer.lora.adapter import fresh_adapter
from imprint_trainer.lora.config import LoraTraining
from imprint_trainer.lora.loop import train
from imprint_trainer.lora.loss import mean_loss
from imprint_trainer.lora.memory import PeakMemory
from imprint_trainer.lora.schedule import Steps, plan_steps
from imprint_trainer.lora.targets import resolve_targets

STEPS = (0, 5, 10, 20)
CHUNKS = (1, 4)
SEED = 0

Made = TypeVar("Made")


@dataclass(frozen=True)
class RefinedCases:
    """Seconds are the process's: a machine that is shared makes others slower."""

    sessions: SessionCases

    def keys(self, _: Results) -> Iterator[Key]:
        """Session by session, so that a run that is cut has some of every length."""
        found = [(one.group, one.session, count) for count in CHUNKS for one in self.sessions.passages[count]]
        for one in sorted(found):
            self.sessions.losses.forget()
            yield "refined", *one

    def case(self, key: Key, _: Results) -> dict[str, Any]:
        """By variant: changes of the loss as shares of the base's on what follows (`rest`), on what was read (`read`)
        and on neutral texts; processor seconds (`seconds`) and those of the clock (`waited`)."""
        one = next(one for one in self.sessions.passages[int(key[3])] if (one.group, one.session) == key[1:3])
        found: dict[str, Any] = {}
        made, solved = timed(lambda: self.sessions.imprinter.update(one.text, one.read))
        config = self.sessions.imprinter.hypernetwork.config
        lessons = [one.read[index] for index in worth_reading(one.read, MOST_WINDOWS, MOST_SUPERVISED)]
        for steps in STEPS:
            update, spent = made, {"seconds": 0.0, "waited": 0.0}
            if steps:
                update, spent = timed(
                    lambda count=steps: refine(made, config, self._base, lessons, count, seed=SEED)  # type: ignore[misc]
                )
            whole = {name: round(spent[name] + solved[name], 1) for name in spent}
            found[f"{steps} steps"] = self._imprinted(one, Imprint(update.factors, 1.0, 0, 0)) | whole
        budget = found[f"{STEPS[-1]} steps"]["seconds"]
        equal = max(1, int(budget // self._seconds_of_a_step(lessons)))
        found["LoRA, equal time"] = self._trained(one, lessons, Steps(1, equal, 1)) | {"steps": equal}
        found["LoRA"] = self._trained(one, one.read, None)
        return {"variants": found, "windows": len(lessons)}

    def _imprinted(self, one: Passage, imprint: Imprint) -> dict[str, float]:
        losses = self.sessions.losses
        return {
            "rest": losses.change(one.rest, imprint, keep=True),
            "read": losses.change(spread(one.read, 2), imprint),
            "neutral": fmean(losses.change([window], imprint, keep=True) for window in self._neutral),
        }

    def _trained(self, one: Passage, windows: Sequence[Window], steps: Steps | None) -> dict[str, float]:
        """As the service trains, or for so many steps of one window each."""
        training = LoraTraining(seed=SEED, profile="learn")
        taught = list(windows) if steps is None else turns(windows, steps.maximum, seed=SEED)
        planned = plan_steps(taught, training) if steps is None else steps
        losses, base = self.sessions.losses, self._base
        with fresh_adapter(base, rank=training.rank, alpha=training.alpha, targets=self._targets, seed=SEED) as model:
            _, spent = timed(
                lambda: train(model, taught, training, planned, device=base.device, memory=PeakMemory(base.device))
            )
            model.eval()
            rows = {"rest": one.rest, "read": tuple(spread(one.read, 2))}
            after = {name: mean_loss(model, row, base.device) for name, row in rows.items()}
            neutral = [mean_loss(model, [window], base.device) for window in self._neutral]
        changes = {name: after[name] / losses.base(row) - 1 for name, row in rows.items()}
        before = [losses.base([window], keep=True) for window in self._neutral]
        return {
            **changes,
            "neutral": fmean(new / old - 1 for new, old in zip(neutral, before, strict=True)),
            **{name: round(value, 1) for name, value in spent.items()},
            "steps": planned.maximum,
        }

    def _seconds_of_a_step(self, lessons: Sequence[Window]) -> float:
        """Processor seconds of a training's step on the longest of these windows, the second of two."""
        longest = max(lessons, key=lambda window: len(window.input_ids))
        training, base, ends = LoraTraining(seed=SEED, profile="learn"), self._base, [0.0]
        with fresh_adapter(base, rank=training.rank, alpha=training.alpha, targets=self._targets, seed=SEED) as model:
            train(
                model,
                [longest] * 2,
                training,
                Steps(1, 2, 1),
                device=base.device,
                memory=PeakMemory(base.device),
                on_step=lambda _: ends.append(time.process_time()),
            )
        return ends[2] - ends[1]

    @cached_property
    def _neutral(self) -> list[Window]:
        return list(neutral_windows(self._base.tokenizer).values())

    @cached_property
    def _targets(self) -> list[str]:
        return resolve_targets(self._base.model, None)

    @property
    def _base(self) -> Any:
        return self.sessions.imprinter.base


def timed(make: Callable[[], Made]) -> tuple[Made, dict[str, float]]:
    began, started = time.monotonic(), time.process_time()
    made = make()
    return made, {"seconds": time.process_time() - started, "waited": time.monotonic() - began}
