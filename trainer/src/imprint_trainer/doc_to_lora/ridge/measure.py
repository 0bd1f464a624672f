"""Measures a base model's statistics on ordinary text: all the training that a ridge hypernetwork has."""

from collections.abc import Callable, Iterable

import torch

from imprint_trainer.doc_to_lora.ridge.config import RidgeConfig
from imprint_trainer.doc_to_lora.ridge.reading import errors_at, listening
from imprint_trainer.doc_to_lora.ridge.statistics import Statistics, compact
from imprint_trainer.doc_to_lora.targets import decoder
from imprint_trainer.models.causal_lm import CausalLM
from imprint_trainer.models.head import output_head

EVERY = 4  # which positions' errors are measured: neighbours tell much the same
SKIPPED = 4  # tokens at a piece's beginning: the first ones are attention's sinks, a hundred times as large


@torch.no_grad()
def measure(
    model: CausalLM,
    config: RidgeConfig,
    pieces: Iterable[list[int]],
    *,
    seed: int = 0,
    on_tokens: Callable[[int], None] = lambda _: None,
) -> tuple[Statistics, int]:
    """Over all pieces: C of each layer's inputs, and F of the errors of targets that the base itself draws (the true
    Fisher matrix, not the empirical one: Kunstner et al. 2019). Also how many tokens that were."""
    (d_in,) = config.d_in.values()
    inputs = torch.zeros(config.num_layers, d_in, d_in)
    errors = torch.zeros(config.feature_size, config.feature_size)
    generator, head = torch.Generator().manual_seed(seed), output_head(model)
    tokens, drawn = 0, 0
    for ids in pieces:
        with listening(model, config) as heard:
            hidden = decoder(model)(input_ids=torch.tensor([ids], device=model.device), use_cache=False)
        for place, layer in enumerate(config.layer_indices):
            rows = heard.entering[layer][SKIPPED:].float().cpu()
            inputs[place].addmm_(rows.mT, rows)
        chosen = torch.arange(SKIPPED, len(ids), EVERY, device=model.device)
        odds = head.logits(hidden.last_hidden_state[0].index_select(0, chosen)).softmax(-1).cpu()
        targets = torch.multinomial(odds, 1, generator=generator)[:, 0].to(model.device)
        found = errors_at(model, heard.leaving[0].index_select(0, chosen), targets).cpu()
        errors.addmm_(found.mT, found)
        tokens, drawn = tokens + len(ids) - SKIPPED, drawn + len(chosen)
        on_tokens(tokens)
    return compact(inputs / tokens, errors / drawn, config.axes), tokens
