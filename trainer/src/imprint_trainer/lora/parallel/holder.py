"""The side of a process that holds a part of the base: it hands out blocks, and takes its share of each step."""

from collections.abc import Callable
from contextlib import ExitStack

import torch
from torch import Tensor

from imprint_trainer.data.windows import Window
from imprint_trainer.lora.adapter import fresh_adapter
from imprint_trainer.lora.gradients import add_gradients
from imprint_trainer.lora.heap import tensors_given_back
from imprint_trainer.models.base import LoadedBase
from imprint_trainer.models.causal_lm import PeftCausalLM
from imprint_trainer.models.device import fix_numerics
from imprint_trainer.models.sharded.blocks import ShardedBlocks
from imprint_trainer.models.sharded.load import load_sharded

from .exchange import Exchange, meet
from .holders import gather
from .messages import Answer, Gather, Hold, Loaded, Losses, Order, Setup, Share


def hold(order: Hold, *, next_order: Callable[[], Order], answer: Callable[[Answer], None]) -> None:
    """Never returns: it ends with its process. Raises what loading and training raise."""
    device = torch.device(order.device)
    if device.type == "cuda":
        torch.cuda.set_device(device)
    fix_numerics(device, order.threads)
    base, blocks = load_sharded(
        order.base_model, number=order.number, processes=order.processes, device=device, gather=gather
    )
    answer(Loaded())
    meet(order.store, number=order.number, processes=order.processes, device=device)
    with ExitStack() as ending:
        training: Training | None = None
        while True:
            told = next_order()
            if isinstance(told, Gather):
                blocks.gathered(told.block)
            elif isinstance(told, Setup):
                training = Training(told, base, blocks, ending)
                answer(Loaded())
            else:
                assert isinstance(told, Share) and training is not None
                training.take(told, answer)


class Training:
    """The adapter stays on the base until the process ends: who asks for blocks asks for weights alone."""

    def __init__(self, setup: Setup, base: LoadedBase, blocks: ShardedBlocks, ending: ExitStack) -> None:
        self._windows: list[Window] = setup.read_windows()
        self._blocks = blocks
        self._device = base.device
        self._model: PeftCausalLM = ending.enter_context(
            fresh_adapter(base, rank=setup.rank, alpha=setup.alpha, targets=setup.targets, seed=setup.seed)
        )
        ending.enter_context(tensors_given_back(setup.scarce))
        self._model.train()
        self._parameters: list[Tensor] = [p for p in self._model.parameters() if p.requires_grad]
        self._exchange = Exchange(self._parameters, number=setup.number)

    def take(self, share: Share, answer: Callable[[Answer], None]) -> None:
        self._exchange.share_factors()
        mine = [self._windows[index] for index in share.windows]
        losses = add_gradients(self._model, mine, supervised=share.supervised, device=self._device)
        for _ in range(share.passes - len(mine)):
            self._blocks.serve_pass()
        self._blocks.require_in_step()
        answer(Losses(losses=losses))
        self._exchange.sum_gradients()
        for parameter in self._parameters:
            parameter.grad = None
