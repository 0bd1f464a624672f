"""More ranks for a trained hypernetwork, without losing what it has learned."""

import torch

from imprint_trainer.doc_to_lora.modeling import Hypernetwork

APART = 1.0  # of a query's length: how far twins start from each other, so that training tells them apart


@torch.no_grad()
def with_ranks(trained: Hypernetwork, rank: int, *, apart: float = APART) -> Hypernetwork:
    """On the CPU. Each new rank is the twin of an old one, and twins share B: what `trained` answers, but for the step
    `apart` that every twin's query takes. Needs a hypernetwork without a decoder, whose latents are its ranks.
    """
    config = trained.config
    layers = config.num_layers
    wide = Hypernetwork(config.model_copy(update={"rank": rank, "n_latent_queries": layers * rank}))
    olds = torch.arange(rank) % config.rank
    twins = olds != torch.arange(rank)
    share = (1 / torch.bincount(olds))[olds]
    state = {name: value.cpu() for name, value in trained.state_dict().items()}
    for name, value in state.items():
        kind, axis = name.split(".")[0], value.dim() - 2  # bias [L, r, d], scaler [1, L, r, 1]
        if name.endswith("latents_q"):
            queries = value.reshape(layers, config.rank, -1)[:, olds]
            noise = torch.randn(queries.shape, generator=torch.Generator().manual_seed(rank)).to(queries)
            step = noise * (queries.norm(dim=-1, keepdim=True) / noise.norm(dim=-1, keepdim=True))
            state[name] = (queries + apart * twins[:, None].to(queries) * step).flatten(0, 1)
        elif kind in ("bias_A", "scaler_A"):
            state[name] = value.index_select(axis, olds)
        elif kind in ("bias_B", "scaler_B"):
            state[name] = value.index_select(axis, olds) * share[:, None].to(value)
    wide.load_state_dict(state)
    return wide
