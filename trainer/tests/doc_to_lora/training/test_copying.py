import torch
from torch.nn.functional import cosine_similarity

from imprint_trainer.doc_to_lora.encoder import encode
from imprint_trainer.doc_to_lora.prompt import document_ids
from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.copying import RIDGE, copying_map
from imprint_trainer.doc_to_lora.training.prompts import Prompts

from .small import fresh_hypernetwork, small_config


def test_the_map_is_the_regression_without_what_all_features_share() -> None:
    generator = torch.Generator().manual_seed(0)
    shared = torch.zeros(6)
    shared[0] = 5.0
    x = torch.randn(4000, 6, generator=generator) * 10 * RIDGE**0.5
    x[:, 0] = 0
    weights = torch.randn(6, 3, generator=generator)
    into, out = copying_map(x, x @ weights, shared, 8)
    assert into.shape == (6, 8)
    assert out.shape == (8, 3)
    assert torch.allclose(shared @ into, torch.zeros(8), atol=1e-6)
    expected, found = x @ weights, x @ into @ out
    assert cosine_similarity(expected, found, dim=-1).min() > 0.999
    assert torch.allclose((x @ into)[:, :3].square().mean(), torch.tensor(1.0), rtol=1e-3)
    assert float(into[:, 3:].abs().max()) == float(out[3:].abs().max()) == 0


def test_a_fresh_hypernetwork_writes_what_it_attends_to(tiny_base: Base) -> None:
    """B's rows of a document are nearer to its own tokens' embeddings than those of other documents are."""
    hypernetwork = fresh_hypernetwork(tiny_base, Prompts(tiny_base.tokenizer), small_config(statements=200), [])
    texts = ["4" * 30, "o" * 30, "e" * 30]
    embeddings = tiny_base.model.get_output_embeddings().weight
    rows, wanted = [], []
    for text in texts:
        ids = torch.tensor([document_ids(tiny_base.tokenizer, tiny_base.name, text)])
        features = encode(tiny_base.model, ids, torch.ones_like(ids), hypernetwork.config)
        with torch.no_grad():
            rows.append(hypernetwork(features, torch.ones_like(ids))["down_proj"].B[0].sum((0, 1)))
        wanted.append(embeddings[ids[0]].mean(0))
    rows_, wanted_ = (torch.stack(x) - torch.stack(x).mean(0) for x in (rows, wanted))
    near = cosine_similarity(rows_[:, None], wanted_[None], dim=-1)  # [row, document]
    assert near.argmax(1).tolist() == [0, 1, 2]
