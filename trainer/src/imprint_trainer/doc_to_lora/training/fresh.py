"""A hypernetwork to start from: it copies what it attends to, in axes for A and B measured on the base model."""

import random

import torch
from torch import Tensor

from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.basis import Text, measure_basis, output_axes
from imprint_trainer.doc_to_lora.training.build import FACTORED, basis_size, initialise, make_config
from imprint_trainer.doc_to_lora.training.config import HypernetworkTrainingConfig, RetentionConfig
from imprint_trainer.doc_to_lora.training.copying import start_as_copier
from imprint_trainer.doc_to_lora.training.factored_head import FactoredHead
from imprint_trainer.doc_to_lora.training.prompts import Prompts
from imprint_trainer.doc_to_lora.training.refusal import TrainingRefused
from imprint_trainer.doc_to_lora.training.retention import RetentionRow
from imprint_trainer.doc_to_lora.training.synthetic import Fact, Novelty, make_fact
from imprint_trainer.doc_to_lora.training.unrelated import unrelated_questions
from imprint_trainer.doc_to_lora.training.widen import with_ranks

SPOKEN = 0.25  # share of the facts whose answers the basis is measured on
READ = 0.2  # share of those whose questions count as text to leave alone


def blank_hypernetwork(base: Base, config: HypernetworkTrainingConfig) -> tuple[Hypernetwork, FactoredHead]:
    """Seeded weights, with zeros for axes in the head that is returned beside it: what a checkpoint is read into."""
    torch.manual_seed(config.seed)
    hypernetwork = Hypernetwork(make_config(base.model, base.name, config.shape))
    layers, d_in = hypernetwork.config.num_layers, hypernetwork.config.d_in["down_proj"]
    d_out = hypernetwork.config.d_out["down_proj"]
    head = FactoredHead(
        latent_size=hypernetwork.config.latent_size,
        basis=torch.zeros(layers, basis_size(config.shape, d_in), d_in),
        out_axes=torch.zeros(d_out, d_out),
        out_scale=torch.zeros(layers),
    )
    initialise(hypernetwork, head)
    return hypernetwork.to(base.model.device), head


@torch.no_grad()
def compute_start(
    hypernetwork: Hypernetwork,
    head: FactoredHead,
    base: Base,
    prompts: Prompts,
    config: HypernetworkTrainingConfig,
    rows: list[RetentionRow],
    trained: Hypernetwork | None = None,
) -> None:
    """In place: the axes of A and B, and what carries a token from document to B, or else the weights of `trained`.
    Reads the base for minutes.

    Raises TrainingRefused for a trained one of another base or shape; only its ranks may be fewer.
    """
    if trained is not None and trained.config.rank < hypernetwork.config.rank:
        trained = with_ranks(trained, hypernetwork.config.rank)
    if trained is not None and trained.config != hypernetwork.config:
        raise TrainingRefused("--init: the hypernetwork has another base or shape: give its settings, or start anew.")
    rng = random.Random(f"start {config.seed}")
    novelty = Novelty(vocabulary=base.vocabulary)
    facts = [make_fact(rng, novelty) for _ in range(config.statements)]
    speaking, silent = calibration_texts(prompts, facts[: max(1, int(len(facts) * SPOKEN))], rows, config.seed)
    kept = None if trained is None else rows_of(trained)[0]
    basis, scale = measure_basis(base.model, speaking, silent, hypernetwork.config, head.basis.shape[1], kept)
    head.basis.copy_(basis)
    head.out_scale.copy_(scale)
    head.out_axes.copy_(output_axes(base.model))
    if trained is None:
        start_as_copier(hypernetwork, head, base, facts)
    else:
        take_over(hypernetwork, head, trained)


def rows_of(trained: Hypernetwork) -> tuple[Tensor, Tensor]:
    """Rows of A [L, d + r, d_in] and of B [L, d + r, d_out], on the CPU: those of the head, then the learned ranks."""
    (module,) = trained.config.target_modules
    of_head = trained.head.weight.tensor_split([trained.config.d_in[module]], dim=-1)
    learned = (trained.bias_A[module], trained.bias_B[module])
    rows_A, rows_B = (torch.cat(pair, dim=1).cpu() for pair in zip(of_head, learned, strict=True))
    return rows_A, rows_B


def take_over(hypernetwork: Hypernetwork, head: FactoredHead, trained: Hypernetwork) -> None:
    """In place: the weights of a hypernetwork of the same shape, taken apart along the head's axes."""
    state = {name: value for name, value in trained.state_dict().items() if not name.startswith(FACTORED)}
    for side, weight in zip("AB", head.weights_of(*rows_of(trained)), strict=True):
        latents = trained.config.latent_size
        state |= {f"head.weight_{side}": weight[:, :latents], f"bias_{side}.weight": weight[:, latents:]}
    hypernetwork.load_state_dict({**hypernetwork.state_dict(), **state})


def calibration_texts(
    prompts: Prompts, facts: list[Fact], rows: list[RetentionRow], seed: int
) -> tuple[list[Text], list[Text]]:
    """Where an adapter speaks: from the end of a fact's question on. Where it is silent: before that, and in chats
    about anything else, with the base's answers where retention has them, and in prose."""
    speaking, silent = [], []
    for index, fact in enumerate(facts):
        question = prompts.prefix + prompts.question(fact.question)
        ids = question + prompts.answer(fact.value)[:-1]
        speaking.append(Text(ids, len(question) - 1, len(ids)))
        if index < len(facts) * READ:
            silent.append(Text(question[:-1], 1, len(question) - 1))  # the first token is an attention sink, far off
    silent += [Text(row.ids, len(row.question), len(row.ids)) for row in rows if row.kind == "prose"]
    chats = [row.ids for row in rows if row.kind == "unrelated"]
    if not chats:
        texts = unrelated_questions(RetentionConfig().unrelated, held_out=False, seed=seed)
        chats = [prompts.question(text) for text in texts]
    start = max(1, len(prompts.prefix))  # the prefix counts above, and once is enough
    silent += [Text(prompts.prefix + ids, start, len(prompts.prefix + ids)) for ids in chats]
    return speaking, silent
