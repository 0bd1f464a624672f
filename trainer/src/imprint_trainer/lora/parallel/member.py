"""The side of a process that is not the first: its share of each step's windows, and nothing else."""

from collections.abc import Callable

import torch

from imprint_trainer.lora.adapter import fresh_adapter
from imprint_trainer.lora.checkpointing import checkpointed
from imprint_trainer.lora.gradients import add_gradients
from imprint_trainer.lora.heap import tensors_given_back
from imprint_trainer.models.device import fix_numerics
from imprint_trainer.models.load import load_base

from .exchange import Exchange, meet
from .messages import Answer, Loaded, Losses, Order, Setup, Share


def take_part(setup: Setup, *, next_order: Callable[[], Order], answer: Callable[[Answer], None]) -> None:
    """Never returns: a member ends with its process. Raises what loading and training raise."""
    device = torch.device(setup.device)
    if device.type == "cuda":
        torch.cuda.set_device(device)
    fix_numerics(device, setup.threads)
    base = load_base(
        setup.base_model, quantization=setup.quantization, device=setup.device, dequantise_on_cpu=setup.dequantised
    )
    windows = setup.read_windows()
    with (
        fresh_adapter(base, rank=setup.rank, alpha=setup.alpha, targets=setup.targets, seed=setup.seed) as model,
        checkpointed(model, setup.checkpointing),
        tensors_given_back(setup.scarce),
    ):
        model.train()
        parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        answer(Loaded())
        meet(setup.store, number=setup.number, processes=setup.processes, device=device)
        exchange = Exchange(parameters, number=setup.number)
        while isinstance(share := next_order(), Share):
            exchange.share_factors()
            mine = [windows[index] for index in share.windows]
            answer(Losses(losses=add_gradients(model, mine, supervised=share.supervised, device=device)))
            exchange.sum_gradients()
            for parameter in parameters:
                parameter.grad = None
