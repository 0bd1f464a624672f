"""A hypernetwork to start from, with its head's basis measured on the base model."""

import torch

from imprint_trainer.doc_to_lora.hypernetwork import Hypernetwork
from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.build import initialise, make_config
from imprint_trainer.doc_to_lora.training.config import HypernetworkTrainingConfig, RetentionConfig
from imprint_trainer.doc_to_lora.training.factored_head import FactoredHead, measure_basis
from imprint_trainer.doc_to_lora.training.padding import pad
from imprint_trainer.doc_to_lora.training.prompts import Prompts
from imprint_trainer.doc_to_lora.training.retention import RetentionRow, retention_questions

BATCH = 20


def fresh_hypernetwork(
    base: Base, prompts: Prompts, config: HypernetworkTrainingConfig, rows: list[RetentionRow]
) -> Hypernetwork:
    """Seeded weights; the basis is measured on the retention rows, or on the default questions without them."""
    torch.manual_seed(config.seed)
    hypernetwork = Hypernetwork(make_config(base.model, base.name, config.shape))
    questions = [] if rows else retention_questions(RetentionConfig(), config.seed)
    texts = [row.ids for row in rows] or [prompts.question(question) for question in questions]
    texts = [prompts.prefix + ids for ids in texts]
    device = base.model.device
    calibration = [pad(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]
    basis, scale = measure_basis(
        base.model,
        [(ids.to(device), mask.to(device)) for ids, mask in calibration],
        hypernetwork.config,
        config.shape.basis_size,
    )
    d_out = hypernetwork.config.d_out["down_proj"]
    head = FactoredHead(latent_size=config.shape.latent_size, basis=basis.cpu(), out_scale=scale.cpu(), d_out=d_out)
    initialise(hypernetwork, head)
    return hypernetwork.to(device)
