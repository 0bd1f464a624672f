"""One forward pass over windows: what enters the adapted layers at supervised tokens, and what the base got wrong."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from imprint_trainer.data.windows import Window
from imprint_trainer.imprint.config import AdapterPlace, decoder, module_path
from imprint_trainer.lora.loss import Read, chunk_of, read_whole, window_tensors
from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.models.head import output_head


def worth_reading(windows: Sequence[Window], most: int, most_supervised: int) -> list[int]:
    """Indices, in order, of at most so many windows: those in which the agent wrote most, until there are as many
    supervised tokens; of equals the later ones, which the session's next turns go on from."""
    order = sorted(range(len(windows)), key=lambda index: (-windows[index].supervised_count, -index))
    chosen: list[int] = []
    supervised = 0
    for index in order[:most]:
        if chosen and supervised >= most_supervised:
            break
        chosen.append(index)
        supervised += windows[index].supervised_count
    return sorted(index for index in chosen if windows[index].supervised_count)


def halves(windows: Sequence[Window]) -> tuple[list[Window], list[Window]]:
    """The windows with the earlier half of their targets, in order, and with the later half; those without any go."""
    targets = [(at, index) for at, one in enumerate(windows) for index in one.targets]
    middle = len(targets) // 2

    def of(some: Sequence[tuple[int, int]]) -> list[Window]:
        kept: dict[int, set[int]] = {}
        for at, index in some:
            kept.setdefault(at, set()).add(index)
        return [windows[at].with_targets(indices) for at, indices in kept.items()]

    return of(targets[:middle]), of(targets[middle:])


@dataclass(frozen=True)
class Seen:
    """At each of s supervised tokens, in order: what enters each layer [L, s, d_in], in the model's numbers, and the
    error [s, d]. `tokens`: all that were read, in so many windows."""

    inputs: Tensor
    errors: Tensor
    tokens: int
    windows: int


@torch.no_grad()
def read_windows(
    model: CausalLM,
    config: AdapterPlace,
    windows: Sequence[Window],
    *,
    read: Read = read_whole,
    stop: Callable[[], None] = lambda: None,
) -> Seen:
    """The blocks run once over each window; the error of a token is the gradient of its log-probability at the residual
    stream's end, through the final norm and the head alone. Windows without a supervised token are not read; `stop` is
    asked before each of the others, and may raise."""
    (d_in,) = config.d_in.values()
    chosen = [one for one in windows if one.supervised_count]
    supervised = sum(one.supervised_count for one in chosen)
    inputs = torch.empty(config.num_layers, supervised, d_in, device=model.device, dtype=model.dtype)
    errors = torch.empty(supervised, config.feature_size, device=model.device)
    end = 0
    for window in chosen:
        stop()
        ids, positions, targets = window_tensors(window, model.device)
        with recording(model, config) as states:
            read(model, ids)
        first, end = end, end + len(targets)
        errors[first:end] = errors_at(model, states.leaving[0].index_select(0, positions), targets)
        for place, layer in enumerate(config.layer_indices):
            inputs[place, first:end] = states.entering[layer].index_select(0, positions)
    return Seen(inputs, errors, sum(len(one.input_ids) for one in chosen), len(chosen))


@dataclass(frozen=True)
class States:
    """Of a window of n tokens: by layer what entered its target module [n, d_in]; what left the last block [n, d]."""

    entering: dict[int, Tensor]
    leaving: list[Tensor]


@contextmanager
def recording(model: CausalLM, config: AdapterPlace) -> Iterator[States]:
    """While open, a forward pass leaves its states there."""
    states = States({}, [])
    (module,) = config.target_modules

    def keep(layer: int) -> Any:
        return lambda _, args: states.entering.__setitem__(layer, args[0][0])

    hooks = [
        model.get_submodule(module_path(layer, module)).register_forward_pre_hook(keep(layer))
        for layer in config.layer_indices
    ]
    norm = decoder(model).norm
    hooks.append(norm.register_forward_pre_hook(lambda _, args: states.leaving.append(args[0][0])))
    try:
        yield states
    finally:
        for hook in hooks:
            hook.remove()


def errors_at(model: CausalLM, leaving: Tensor, targets: Tensor) -> Tensor:
    """Gradient [s, d] of each target's log-probability at what leaves the last block [s, d]: the target's output
    embedding less the expected one, through the final norm. Nothing below the norm is differentiated."""
    norm, head = decoder(model).norm, output_head(model)
    parts = []
    size = chunk_of(leaving)
    for states, wanted in zip(torch.split(leaving, size), torch.split(targets, size), strict=True):
        with torch.enable_grad():
            entering = states.detach().float().requires_grad_()
            logits = head.logits(norm(entering).to(model.dtype))
            likely = logits.log_softmax(-1).gather(1, wanted[:, None]).sum()
            (gradient,) = torch.autograd.grad(likely, entering)
        parts.append(gradient)
    return torch.cat(parts)
