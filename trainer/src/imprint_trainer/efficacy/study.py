"""Trains on the sessions before the newest one of a group, and tests on that one, on others', and on neutral text."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from imprint_trainer.adapters.neutral import TEXTS, neutral_window
from imprint_trainer.data.windows import Window
from imprint_trainer.efficacy.groups import Group, Recorded, tested_windows
from imprint_trainer.evaluation.bootstrap import paired
from imprint_trainer.evaluation.context import with_text_before
from imprint_trainer.evaluation.loss import Loss, measure_loss, total
from imprint_trainer.lora.adapter import fresh_adapter
from imprint_trainer.lora.config import LoraTraining
from imprint_trainer.lora.loop import train
from imprint_trainer.lora.memory import PeakMemory
from imprint_trainer.lora.schedule import plan_steps
from imprint_trainer.lora.targets import resolve_targets
from imprint_trainer.models.base import LoadedBase

WINDOW = 1024  # tokens, of every row
CONTEXT = 1024  # tokens of the trained sessions before each tested window, in the row that retrieval is
UNRELATED_WINDOWS = 2  # of each unrelated session


@dataclass(frozen=True)
class Limits:
    """Windows, the first ones, that are trained of each session, and tested: so that a study ends."""

    trained: int
    tested: int


@dataclass
class Study:
    """`settings`: the trainings by name. `unrelated`: groups whose tested sessions no training has seen."""

    base: LoadedBase
    settings: dict[str, LoraTraining]
    unrelated: Sequence[Group]
    limits: Limits
    _measured: dict[str, list[Loss]] = field(default_factory=dict)  # the base's rows

    def case(self, group: Group, count: int, name: str) -> dict[str, Any]:
        """One training on the `count` sessions before the group's newest, and what it brought. Losses in nats per
        token, changes as shares of the base's loss."""
        trained, device = group.before(count), self.base.device
        training = self.settings[name]
        windows = [window for one in trained for window in one.windows[: self.limits.trained]]
        tested = self._tested(group, trained)
        before = measure_loss(self.base.model, tested, device)
        self._measure_base()
        others = {other.name: other for other in self.unrelated if other.name != group.name}
        started = time.monotonic()
        with fresh_adapter(
            self.base,
            rank=training.rank,
            alpha=training.alpha,
            targets=resolve_targets(self.base.model, training.target_modules),
            seed=training.seed,
        ) as model:
            result = train(
                model,
                windows,
                training,
                plan_steps(windows, training),
                device=device,
                memory=PeakMemory(device),
            )
            seconds = time.monotonic() - started
            model.eval()
            after = measure_loss(model, tested, device)
            elsewhere = {one: measure_loss(model, unrelated_windows(other), device) for one, other in others.items()}
            neutral = {text: measure_loss(model, [neutral_window(self.base.tokenizer, text)], device) for text in TEXTS}
        change, interval = paired(before, after, [group.name] * len(tested), training.seed)
        base = total(before).mean
        return {
            "group": group.name,
            "sessions": len(trained),
            "settings": name,
            "trained_windows": len(windows),
            "trained_tokens": sum(len(window.input_ids) for window in windows),
            "passes": len(result.epoch_losses),
            "epoch_losses": list(result.epoch_losses),
            "seconds": round(seconds, 1),
            "tested_windows": len(tested),
            "tested_tokens": total(before).tokens,
            "base": base,
            "loss": total(after).mean,
            "change": change / base,
            "interval": None if interval is None else [bound / base for bound in interval],
            "unrelated": {one: self._change(one, losses) for one, losses in elsewhere.items()},
            "neutral": {text: self._change(text, losses) for text, losses in neutral.items()},
        }

    def context(self, group: Group) -> dict[str, Any]:
        """The base with the newest text of the session before in its prompt, instead of an adapter."""
        trained = group.before(1)
        tested = self._tested(group, trained)
        text = [token for window in trained[0].windows[: self.limits.trained] for token in window.input_ids][-CONTEXT:]
        reach = int(getattr(self.base.model.config, "max_position_embeddings", WINDOW + CONTEXT))
        before = measure_loss(self.base.model, tested, self.base.device)
        longer = [with_text_before(window, text, reach) for window in tested]
        after = measure_loss(self.base.model, longer, self.base.device)
        return {
            "group": group.name,
            "sessions": 1,
            "settings": "context",
            "base": total(before).mean,
            "change": total(after).mean / total(before).mean - 1,
        }

    def _tested(self, group: Group, trained: Sequence[Recorded]) -> list[Window]:
        windows = tested_windows(group, trained, self.base.tokenizer, max_length=WINDOW)
        return list(windows[: self.limits.tested])

    def _measure_base(self) -> None:
        """What every case compares with; it cannot be measured while an adapter is on the base."""
        if not self._measured:
            model, device = self.base.model, self.base.device
            self._measured |= {one.name: measure_loss(model, unrelated_windows(one), device) for one in self.unrelated}
            texts = {text: neutral_window(self.base.tokenizer, text) for text in TEXTS}
            self._measured |= {text: measure_loss(model, [window], device) for text, window in texts.items()}

    def _change(self, name: str, losses: Sequence[Loss]) -> float:
        return total(losses).mean / total(self._measured[name]).mean - 1


def unrelated_windows(group: Group) -> Sequence[Window]:
    return group.tested.windows[:UNRELATED_WINDOWS]
