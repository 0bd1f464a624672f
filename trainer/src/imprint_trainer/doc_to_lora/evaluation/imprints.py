"""Adapters of sessions, on the base: what is measured."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import torch

from imprint_trainer.adapters.hidden_states import readers
from imprint_trainer.adapters.prove import IMPRINT_TOKENS
from imprint_trainer.adapters.sample import sample
from imprint_trainer.data.windows import Window
from imprint_trainer.doc_to_lora.apply import applied
from imprint_trainer.doc_to_lora.calibrate import calibrate
from imprint_trainer.doc_to_lora.generate import Update, generate_update
from imprint_trainer.doc_to_lora.merge import pad_rank
from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.doc_to_lora.ridge.load import Ridge
from imprint_trainer.doc_to_lora.ridge.update import MOST_WINDOWS, update_of, worth_reading
from imprint_trainer.lora.factors import Factors
from imprint_trainer.models.base import LoadedBase


@dataclass(frozen=True)
class Imprint:
    """`scale` is 0 where calibration refused the adapter: whoever asked for it has the base."""

    factors: dict[str, Factors]  # for each module A [L, R, d_in], B [L, R, d_out]
    scale: float
    tokens: int
    chunks: int


@dataclass(frozen=True)
class Imprinter:
    base: LoadedBase
    hypernetwork: Hypernetwork | Ridge
    calibrated: bool

    def of(self, text: str, windows: Sequence[Window]) -> Imprint:
        """The adapter of a document, or of the `windows` of the same session, which its scale is calibrated on."""
        update = self.update(text, windows)
        scale = self._scale(update.factors, windows) if self.calibrated else 1.0
        return Imprint(update.factors, scale, update.tokens, update.chunks)

    def update(self, text: str, windows: Sequence[Window]) -> Update:
        if isinstance(self.hypernetwork, Ridge):
            chosen = worth_reading(windows, MOST_WINDOWS, self.hypernetwork.config.most_supervised)
            return update_of(self.hypernetwork, self.base.model, [windows[one] for one in chosen])
        return generate_update(self.hypernetwork, self.base.model, self.base.tokenizer, text)

    def on(self, imprint: Imprint) -> AbstractContextManager[None]:
        """While open, the base has the adapter."""
        return applied(self.base.model, imprint.factors, self.hypernetwork.config, scaling=imprint.scale)

    @contextmanager
    def on_rows(self, imprints: Sequence[Imprint]) -> Iterator[None]:
        """While open, row i of every batch that the base runs has adapter i."""
        most = max(next(iter(one.factors.values())).A.shape[-2] for one in imprints)
        padded = [pad_rank(one.factors, most) for one in imprints]
        rows = {
            module: Factors(
                torch.stack([one[module].A for one in padded], dim=1),  # [L, rows, R, d_in]
                torch.stack([one[module].B * own.scale for one, own in zip(padded, imprints, strict=True)], dim=1),
            )
            for module in padded[0]
        }
        with applied(self.base.model, rows, self.hypernetwork.config):
            yield

    def _scale(self, factors: dict[str, Factors], windows: Sequence[Window]) -> float:
        own = [windows[index] for index in sample(windows, IMPRINT_TOKENS)]
        reads = readers(self.base, min(self.hypernetwork.config.layer_indices))
        found = calibrate(self.base, factors, self.hypernetwork.config, own, reads)
        return found.scale if found.helps else 0.0
