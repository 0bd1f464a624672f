"""What the adapter of a session's first part does: to what follows it, to what it read, and elsewhere."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from imprint_trainer.data.windows import Window
from imprint_trainer.doc_to_lora.evaluation.imprints import Imprint, Imprinter
from imprint_trainer.doc_to_lora.evaluation.losses import Losses
from imprint_trainer.doc_to_lora.evaluation.neutral import neutral_windows
from imprint_trainer.doc_to_lora.evaluation.passages import Passage, passage, session_files, spread
from imprint_trainer.doc_to_lora.evaluation.results import Key, Results
from imprint_trainer.evaluation.context import with_text_before
from imprint_trainer.lora.adapter import fresh_adapter
from imprint_trainer.lora.config import LoraTraining
from imprint_trainer.lora.loop import train
from imprint_trainer.lora.loss import mean_loss
from imprint_trainer.lora.memory import PeakMemory
from imprint_trainer.lora.schedule import plan_steps
from imprint_trainer.lora.targets import resolve_targets

CHUNKS = (1, 4, 16)
OTHERS = 2  # sessions of other groups that each adapter is tried on
DEFAULT_CHUNK = 256  # tokens, where the hypernetwork names no length


@dataclass(frozen=True)
class SessionCases:
    """`windows` are measured of each part of a session. `lora`: also train on what was read."""

    imprinter: Imprinter
    folder: Path | None
    limit: int | None = None
    windows: int = 2
    lora: bool = False
    _imprints: dict[tuple[str, str, int], Imprint] = field(default_factory=dict)

    def keys(self, _: Results) -> Iterator[Key]:
        for count in CHUNKS:
            self.losses.forget()
            for one in self.passages[count]:
                yield "session", one.group, one.session, count

    @cached_property
    def passages(self) -> dict[int, list[Passage]]:
        """For each number of chunks the sessions that are long enough, and go on."""
        base, config = self.imprinter.base, self.imprinter.hypernetwork.config
        name, length = config.base_model_name_or_path, getattr(config, "max_chunk_length", None) or DEFAULT_CHUNK
        found: dict[int, list[Passage]] = {count: [] for count in CHUNKS}
        for path in session_files(self.folder, self.limit) if self.folder else []:
            for count in CHUNKS:
                one = passage(base, name, path, count, length, self.windows)
                found[count] += [one] if one else []
        return found

    def case(self, key: Key, _: Results) -> dict[str, Any]:
        """Mean losses in nats per token of the agent; `unrelated` is the adapter of another group's session on the same
        continuation. The others are changes as shares of the base's loss: `others` on other groups' continuations,
        `context` of the base where what was read stands before the first window of the continuation."""
        one = next(one for one in self.passages[int(key[3])] if (one.group, one.session) == key[1:3])
        strangers, own, losses = self._strangers(one), self.imprint(one), self.losses
        theirs = self.imprint(strangers[0]) if strangers else None
        first = one.rest[:1]
        neutral = neutral_windows(self.imprinter.base.tokenizer)
        return {
            "scale": own.scale,
            "tokens": one.tokens,
            "rest_tokens": sum(window.supervised_count for window in one.rest),
            "base": losses.base(one.rest, keep=True),
            "adapter": losses.adapted(one.rest, own, keep=True),
            "unrelated": losses.adapted(one.rest, theirs, keep=True) if theirs else None,
            "context": losses.base([self._behind(one, first[0])]) / losses.base(first, keep=True) - 1,
            "read": losses.change(spread(one.read, self.windows), own),
            "others": {
                f"{other.group}/{other.session}": losses.change(other.rest, own, keep=True) for other in strangers
            },
            "neutral": {name: losses.change([window], own, keep=True) for name, window in neutral.items()},
            **(self._trained(one) if self.lora else {}),
        }

    def imprint(self, one: Passage) -> Imprint:
        key = (one.group, one.session, one.chunks)
        if key not in self._imprints:
            self._imprints[key] = self.imprinter.of(one.text, one.read)
        return self._imprints[key]

    @cached_property
    def losses(self) -> Losses:
        return Losses(self.imprinter)

    def _strangers(self, one: Passage) -> list[Passage]:
        """The next ones of other groups, in a circle."""
        row = self.passages[one.chunks]
        place = row.index(one)
        return [other for other in row[place + 1 :] + row[:place] if other.group != one.group][:OTHERS]

    def _behind(self, one: Passage, window: Window) -> Window:
        """The window behind as much of what was read as the base's positions have room for."""
        base = self.imprinter.base
        ids = base.tokenizer(one.text, add_special_tokens=False)["input_ids"]
        reach = int(getattr(base.model.config, "max_position_embeddings", len(window.input_ids) + len(ids)))
        return with_text_before(window, ids, reach)

    def _trained(self, one: Passage) -> dict[str, Any]:
        """A LoRA of the agent's tokens in what was read, as the service trains it, and how long that took."""
        base, training = self.imprinter.base, LoraTraining(seed=0, profile="learn")
        targets = resolve_targets(base.model, training.target_modules)
        started = time.monotonic()
        with fresh_adapter(
            base, rank=training.rank, alpha=training.alpha, targets=targets, seed=training.seed
        ) as model:
            steps = plan_steps(one.read, training)
            train(model, one.read, training, steps, device=base.device, memory=PeakMemory(base.device))
            seconds = time.monotonic() - started
            model.eval()
            return {"lora": mean_loss(model, one.rest, base.device), "lora_seconds": round(seconds, 1)}
