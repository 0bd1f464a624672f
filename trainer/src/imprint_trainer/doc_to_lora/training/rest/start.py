"""What a training on rests of sessions starts from: a trained hypernetwork, quieter, in axes measured on sessions."""

from collections.abc import Sequence

import torch

from imprint_trainer.data.windows import Window
from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.basis import Text, measure_basis, output_axes
from imprint_trainer.doc_to_lora.training.factored_head import FactoredHead
from imprint_trainer.doc_to_lora.training.fresh import rows_of, take_over
from imprint_trainer.doc_to_lora.training.rest.config import RestConfig


@torch.no_grad()
def start_from(
    trained: Hypernetwork,
    hypernetwork: Hypernetwork,
    head: FactoredHead,
    base: Base,
    config: RestConfig,
    windows: Sequence[Window],
    texts: Sequence[Window],
) -> None:
    """In place. The axes of A: along which inputs at what agents write stand out from inputs at other texts."""
    speaking = [_answer(window) for window in windows]
    silent = [Text(list(text.input_ids), 1, len(text.input_ids)) for text in texts] or [
        Text(text.ids, 1, max(2, text.start)) for text in speaking
    ]
    components = head.basis.shape[1]
    basis, scale = measure_basis(base.model, speaking, silent, hypernetwork.config, components, rows_of(trained)[0])
    head.basis.copy_(basis)
    head.out_scale.copy_(scale)
    head.out_axes.copy_(output_axes(base.model))
    take_over(hypernetwork, head, trained)
    for module in hypernetwork.config.target_modules:
        hypernetwork.scaler_B[module].mul_(config.generated_start)
    hypernetwork.bias_B.weight.mul_(config.learned_start)  # type: ignore[operator]


def _answer(window: Window) -> Text:
    """The longest run of targets, without what stands after it."""
    best, start = (0, 0), None
    for index, supervised in enumerate((*window.supervised, False)):
        if supervised and start is None:
            start = index
        elif not supervised and start is not None:
            best, start = max(best, (start, index), key=lambda run: run[1] - run[0]), None
    return Text(list(window.input_ids[: best[1]]), best[0], best[1])
