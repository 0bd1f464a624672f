"""A hypernetwork to start from: it copies what it attends to, and A is built in axes measured on the base model."""

import random

import torch

from imprint_trainer.doc_to_lora.hypernetwork import Hypernetwork
from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.basis import Text, measure_basis
from imprint_trainer.doc_to_lora.training.build import initialise, make_config
from imprint_trainer.doc_to_lora.training.config import HypernetworkTrainingConfig, RetentionConfig
from imprint_trainer.doc_to_lora.training.copying import start_as_copier
from imprint_trainer.doc_to_lora.training.factored_head import FactoredHead
from imprint_trainer.doc_to_lora.training.prompts import Prompts
from imprint_trainer.doc_to_lora.training.retention import RetentionRow
from imprint_trainer.doc_to_lora.training.synthetic import Fact, Novelty, make_fact
from imprint_trainer.doc_to_lora.training.unrelated import unrelated_questions
from imprint_trainer.doc_to_lora.training.vocabulary import vocabulary_of

SPOKEN = 0.25  # share of the facts whose answers the basis is measured on
READ = 0.2  # share of those whose questions count as text to leave alone


def fresh_hypernetwork(
    base: Base, prompts: Prompts, config: HypernetworkTrainingConfig, rows: list[RetentionRow]
) -> Hypernetwork:
    """Seeded weights, then those that can be computed: the basis of A and what carries a token from document to B."""
    torch.manual_seed(config.seed)
    rng = random.Random(f"start {config.seed}")
    novelty = Novelty(vocabulary=vocabulary_of(base.tokenizer))
    facts = [make_fact(rng, novelty) for _ in range(config.statements)]
    hypernetwork = Hypernetwork(make_config(base.model, base.name, config.shape))
    speaking, silent = calibration_texts(prompts, config, facts[: max(1, int(len(facts) * SPOKEN))], rows)
    basis, scale = measure_basis(base.model, speaking, silent, hypernetwork.config, config.shape.basis_size)
    d_out = hypernetwork.config.d_out["down_proj"]
    head = FactoredHead(latent_size=config.shape.latent_size, basis=basis, out_scale=scale, d_out=d_out)
    initialise(hypernetwork, head)
    start_as_copier(hypernetwork, head, base, facts)
    return hypernetwork.to(base.model.device)


def calibration_texts(
    prompts: Prompts, config: HypernetworkTrainingConfig, facts: list[Fact], rows: list[RetentionRow]
) -> tuple[list[Text], list[Text]]:
    """Where an adapter speaks: from the end of a fact's question on. Where it is silent: before that, and in chats
    about the world, with the base's answers where retention has them."""
    speaking, silent = [], []
    for index, fact in enumerate(facts):
        question = prompts.prefix + prompts.question(fact.question)
        ids = question + prompts.answer(fact.value)[:-1]
        speaking.append(Text(ids, len(question) - 1, len(ids)))
        if index < len(facts) * READ:
            silent.append(Text(question[:-1], 1, len(question) - 1))  # the first token is an attention sink, far off
    unrelated = [row.ids for row in rows if not row.foreign]
    if not unrelated:
        texts = unrelated_questions(RetentionConfig().unrelated, held_out=False, seed=config.seed)
        unrelated = [prompts.question(text) for text in texts]
    silent += [Text(prompts.prefix + ids, 1, len(prompts.prefix + ids)) for ids in unrelated]
    return speaking, silent
