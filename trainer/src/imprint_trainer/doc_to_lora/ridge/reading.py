"""One forward pass over windows: what enters the adapted layers at lessons, and what the base got wrong."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from imprint_trainer.data.windows import Window
from imprint_trainer.doc_to_lora.config import AdapterPlace
from imprint_trainer.doc_to_lora.targets import decoder, module_path
from imprint_trainer.lora.loss import CHUNK, Read, read_whole, window_tensors
from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.models.head import output_head


@dataclass
class Gram:
    """Sums over the supervised tokens that were read: of each layer's inputs with themselves [L, d_in, d_in], and with
    the errors [L, d_in, d]."""

    inputs: Tensor
    lessons: Tensor
    tokens: int = 0  # supervised
    read: int = 0  # all


@torch.no_grad()
def read_windows(
    model: CausalLM,
    config: AdapterPlace,
    windows: Sequence[Window],
    *,
    read: Read = read_whole,
    stop: Callable[[], None] = lambda: None,
) -> Gram:
    """The blocks run once over each window; the error of a token is the gradient of its log-probability at the residual
    stream's end, through the final norm and the head alone. Windows without a lesson are not read; `stop` is asked
    before each of the others, and may raise."""
    (d_in,) = config.d_in.values()
    layers, width = config.num_layers, config.feature_size
    gram = Gram(
        torch.zeros(layers, d_in, d_in, device=model.device), torch.zeros(layers, d_in, width, device=model.device)
    )
    for window in (one for one in windows if one.supervised_count):
        stop()
        ids, positions, targets = window_tensors(window, model.device)
        with listening(model, config) as heard:
            read(model, ids)
        errors = errors_at(model, heard.leaving[0].index_select(0, positions), targets)  # [s, d]
        for place, layer in enumerate(config.layer_indices):
            inputs = heard.entering[layer].index_select(0, positions).float()  # [s, d_in]
            gram.inputs[place].addmm_(inputs.mT, inputs)
            gram.lessons[place].addmm_(inputs.mT, errors)
        gram.tokens += len(targets)
        gram.read += len(window.input_ids)
    return gram


@dataclass(frozen=True)
class Heard:
    """Of a window of n tokens: by layer what entered its target module [n, d_in]; what left the last block [n, d]."""

    entering: dict[int, Tensor]
    leaving: list[Tensor]


@contextmanager
def listening(model: CausalLM, config: AdapterPlace) -> Iterator[Heard]:
    heard = Heard({}, [])
    (module,) = config.target_modules

    def keep(layer: int) -> Any:
        return lambda _, args: heard.entering.__setitem__(layer, args[0][0])

    hooks = [
        model.get_submodule(module_path(layer, module)).register_forward_pre_hook(keep(layer))
        for layer in config.layer_indices
    ]
    norm = decoder(model).norm
    hooks.append(norm.register_forward_pre_hook(lambda _, args: heard.leaving.append(args[0][0])))
    try:
        yield heard
    finally:
        for hook in hooks:
            hook.remove()


def errors_at(model: CausalLM, leaving: Tensor, targets: Tensor) -> Tensor:
    """Gradient [s, d] of each target's log-probability at what leaves the last block [s, d]: the target's output
    embedding less the expected one, through the final norm. Nothing below the norm is differentiated."""
    norm, head = decoder(model).norm, output_head(model)
    parts = []
    for states, wanted in zip(torch.split(leaving, CHUNK), torch.split(targets, CHUNK), strict=True):
        with torch.enable_grad():
            entering = states.detach().float().requires_grad_()
            logits = head.logits(norm(entering).to(model.dtype))
            likely = logits.log_softmax(-1).gather(1, wanted[:, None]).sum()
            (gradient,) = torch.autograd.grad(likely, entering)
        parts.append(gradient)
    return torch.cat(parts)
