"""A hypernetwork that starts as a copier: what it attends to in a document is what its adapters make the base say.

Training from random weights learns to tell a few hundred words apart long before it copies an unseen one. The map that
copies is linear and known in closed form: the ridge regression from a token's features to its output embedding, cut to
the latents' size. The gated projection lets it through, since the features share a large constant part that holds the
gates open; attention adds it to the latents; the head's B writes it into the residual stream. Where to look, and when
to speak (A), is left to training.
"""

import random
from collections import Counter

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, pad

from imprint_trainer.doc_to_lora.encoder import encode
from imprint_trainer.doc_to_lora.modeling import Hypernetwork, PerLayerResidualMlp, ResamplerLayer, rms_normalize
from imprint_trainer.doc_to_lora.prompt import chunk_affixes, document_ids
from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.basis import output_rows
from imprint_trainer.doc_to_lora.training.factored_head import FactoredHead
from imprint_trainer.doc_to_lora.training.padding import pad as pad_rows
from imprint_trainer.doc_to_lora.training.synthetic import Fact, make_statement

BATCH = 50
SEEN = 12  # times at most that one token counts: "the" is not worth more than a name
RIDGE = 30.0
GATE = 2.0  # what the shared part of the features gives every gate
BRANCH_SCALE = 0.1  # of a branch's ordinary scale: random branches must not drown what is copied
B_NORM = 1.0  # of B's rows, in the head's units; A's are small until training knows when to speak


@torch.no_grad()
def start_as_copier(hypernetwork: Hypernetwork, head: FactoredHead, base: Base, facts: list[Fact]) -> None:
    """Overwrites the freshly initialised weights that carry a token of a fact's statement from its features to B.

    The head must have its axes.
    """
    features, tokens = document_features(hypernetwork, base, facts)
    shared, wanted = features.mean(0), normalize(output_rows(base.model)[tokens] @ head.out_axes.cpu(), dim=-1)
    into, out = copying_map(features - shared, wanted, shared, hypernetwork.config.latent_size)
    perceiver = hypernetwork.aggregator.perceiver
    projection = perceiver.modality_projection
    units = min(projection.up_proj.weight.shape[0], into.shape[1])
    projection.gate_proj.weight[:units] = GATE * shared / shared.square().sum()
    projection.up_proj.weight[:units] = into.mT[:units]
    projection.down_proj.weight.mul_(BRANCH_SCALE)
    projection.down_proj.weight[:, :units] = torch.eye(len(projection.down_proj.weight), units)
    perceiver.encoder.latents_q.mul_(BRANCH_SCALE)  # queries are normed
    for layer in perceiver.encoder.layers:
        assert isinstance(layer, ResamplerLayer)
        nn.init.eye_(layer.self_attn.v_proj.weight)
        nn.init.eye_(layer.self_attn.o_proj.weight)
        layer.post_ff_layernorm.weight.fill_(BRANCH_SCALE)
    for block in hypernetwork.layers:
        assert isinstance(block, PerLayerResidualMlp)
        nn.init.constant_(block.layers[-1].weight, BRANCH_SCALE)  # type: ignore[arg-type]
    rows = normalize((features - shared) @ into, dim=-1) @ out
    head.weight_B.copy_((out * (B_NORM / rows.norm(dim=-1).mean())).expand_as(head.weight_B))
    head.weight_A.mul_(BRANCH_SCALE)


def document_features(hypernetwork: Hypernetwork, base: Base, facts: list[Fact]) -> tuple[Tensor, Tensor]:
    """Normed features [N, D] of the tokens [N] of the facts' statements, without the template's."""
    rng = random.Random(facts[0].value)
    statements = (make_statement(rng, fact) for fact in facts)
    documents = sorted((document_ids(base.tokenizer, base.name, text) for text in statements), key=len)
    affixes = chunk_affixes(base.tokenizer, base.name)
    features, tokens, seen = [], [], Counter[int]()
    for start in range(0, len(documents), BATCH):
        rows = documents[start : start + BATCH]
        ids, mask = (x.to(base.model.device) for x in pad_rows(rows))
        hidden = rms_normalize(encode(base.model, ids, mask, hypernetwork.config).float()).cpu()
        for row, own in zip(rows, hidden, strict=True):
            for position in range(len(affixes.prefix), len(row) - len(affixes.suffix)):
                seen[row[position]] += 1
                if seen[row[position]] <= SEEN:
                    features.append(own[position])
                    tokens.append(row[position])
    return torch.stack(features), torch.tensor(tokens)


def copying_map(x: Tensor, y: Tensor, shared: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Factors [D, size] and [size, d_out] of the ridge regression from x [N, D] to y [N, d_out], zero above its rank.

    The first reads nothing of the direction `shared` [D], and its outputs have a mean square of one.
    """
    weights = torch.linalg.solve(x.mT @ x + RIDGE * torch.eye(x.shape[1]), x.mT @ y)
    u, s, vh = torch.linalg.svd(weights, full_matrices=False)
    into, out = u[:, :size] * s[:size].sqrt(), s[:size].sqrt()[:, None] * vh[:size]
    axis = shared / shared.norm()
    into = into - axis[:, None] * (axis @ into)
    spare = size - into.shape[1]
    return pad(into / (x @ into).square().mean().sqrt(), (0, max(0, spare))), pad(out, (0, 0, 0, max(0, spare)))
