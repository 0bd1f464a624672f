"""Losses of windows with and without an adapter; what no adapter changes is computed once."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from imprint_trainer.adapters.hidden_states import readers
from imprint_trainer.data.windows import Window
from imprint_trainer.doc_to_lora.evaluation.imprints import Imprint, Imprinter
from imprint_trainer.lora.loss import Read, mean_loss


@dataclass
class Losses:
    """`keep` for windows that many adapters are measured on: the states below the first adapted block stay in memory,
    2.4 MB for 1,024 tokens of the default model, until `forget`."""

    imprinter: Imprinter
    _base: dict[tuple[int, ...], float] = field(default_factory=dict)
    _keeping: Read | None = None

    def base(self, windows: Sequence[Window], *, keep: bool = False) -> float:
        """Nats per supervised token, each window's computed once."""
        reader = self._reader(keep)
        for window in windows:
            if window.input_ids not in self._base:
                self._base[window.input_ids] = self._mean([window], reader)
        counts = [window.supervised_count for window in windows]
        total = sum(self._base[one.input_ids] * count for one, count in zip(windows, counts, strict=True))
        return total / sum(counts)

    def adapted(self, windows: Sequence[Window], imprint: Imprint, *, keep: bool = False) -> float:
        with self.imprinter.on(imprint):
            return self._mean(windows, self._reader(keep))

    def change(self, windows: Sequence[Window], imprint: Imprint, *, keep: bool = False) -> float:
        """As a share of the base's loss."""
        return self.adapted(windows, imprint, keep=keep) / self.base(windows, keep=keep) - 1

    def forget(self) -> None:
        self._keeping = None

    def _mean(self, windows: Sequence[Window], reader: Read) -> float:
        return mean_loss(self.imprinter.base.model, windows, self.imprinter.base.device, reader)

    def _reader(self, keep: bool) -> Read:
        first = min(self.imprinter.hypernetwork.config.layer_indices)
        if not keep:
            return readers(self.imprinter.base, first)[0]
        if self._keeping is None:
            self._keeping = readers(self.imprinter.base, first)[0]
        return self._keeping
