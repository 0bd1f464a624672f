from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from imprint_trainer.doc_to_lora.apply import applied
from imprint_trainer.doc_to_lora.chunks import split_chunks
from imprint_trainer.doc_to_lora.generate import chunk_factors
from imprint_trainer.doc_to_lora.merge import merge_chunks
from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.doc_to_lora.prompt import chunk_affixes, document_ids
from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.build import fold
from imprint_trainer.doc_to_lora.training.evaluation.answers import adapted, answer
from imprint_trainer.doc_to_lora.training.evaluation.cases import make_rows
from imprint_trainer.doc_to_lora.training.evaluation.evaluate import Measured, evaluate, exact
from imprint_trainer.doc_to_lora.training.prompts import Prompts
from imprint_trainer.doc_to_lora.training.synthetic import Example

from ..small import fresh_hypernetwork, small_config

QUESTIONS = ["What is the port?", "Who owns it?", "What does a cat eat?"]
DOCUMENTS = ["The port of the fox gateway is 7413.", "Short.", "The owner is Ada. " * 12]


@pytest.fixture(scope="module")
def hypernetwork(tiny_base: Base) -> Hypernetwork:
    """Untrained, and with updates so large that no answer stays the same."""
    network = fold(fresh_hypernetwork(tiny_base, Prompts(tiny_base.tokenizer), small_config(), []))
    network.scaler_B["down_proj"].fill_(20.0)
    return network


@pytest.fixture
def silent(hypernetwork: Hypernetwork) -> Hypernetwork:
    """The same with updates of zero."""
    zero = Hypernetwork(hypernetwork.config)
    zero.load_state_dict(hypernetwork.state_dict())
    zero.requires_grad_(False)
    zero.scaler_B["down_proj"].zero_()
    zero.bias_B["down_proj"].zero_()
    return zero


def rows(base: Base, network: Hypernetwork) -> dict[str, Measured]:
    measured = evaluate(base, network, documents=4, seed=0, batch=50)
    return {row.row: row for row in measured}


def test_exact_answers_are_counted_and_numbers_by_themselves() -> None:
    examples = [
        Example("d", "q", "7413", "port"),
        Example("d", "q", "512", "limit"),
        Example("d", "q", "fox", "word"),
        Example("d", "q", "make fox", "command"),
    ]
    assert exact(examples, ["7413", "51", "fox", "make foxes"]) == (0.5, 0.5)
    assert exact(examples[2:], ["fox", "make fox"]) == (1.0, None)


def test_a_silent_adapter_changes_nothing(tiny_base: Base, silent: Hypernetwork) -> None:
    table = rows(tiny_base, silent)
    kept, rise = table["unrelated answers equal to the base's"], table["rise of the neutral text's loss"]
    assert (kept.share, kept.documents, kept.met) == (1.0, 100, True)
    assert (rise.share, rise.met) == (0.0, True)
    assert table["another document's adapter"].share == table["base without adapter"].share == 0.0
    assert not table["one fact, seen wordings"].met


def test_an_adapter_that_says_its_fact_at_every_question_is_found_out(
    tiny_base: Base, silent: Hypernetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = {example.document: example.answer for row in make_rows(4, seed=0) for example in row.examples}

    def shouted(_: Base, __: Prompts, questions: list[str], *, documents: Sequence[str] = (), **___: Any) -> list[str]:
        return [facts[document] for document in documents[: len(questions)]] or [""] * len(questions)

    monkeypatch.setattr("imprint_trainer.doc_to_lora.training.evaluation.evaluate.answer", shouted)
    table = rows(tiny_base, silent)
    assert table["one fact, seen wordings"].share == 1.0
    assert table["another document's adapter"].share == 0.0
    own = table["that adapter's own fact instead"]
    assert (own.share, own.met) == (1.0, False)


def test_an_adapter_that_changes_other_answers_is_found_out(tiny_base: Base, hypernetwork: Hypernetwork) -> None:
    table = rows(tiny_base, hypernetwork)
    assert table["unrelated answers equal to the base's"].share < 0.5
    assert not table["unrelated answers equal to the base's"].met
    assert table["rise of the neutral text's loss"].share != 0.0


def test_an_answer_is_the_models_own_greedy_generation(tiny_base: Base) -> None:
    prompts = Prompts(tiny_base.tokenizer)
    given = answer(tiny_base, prompts, QUESTIONS, limit=5, batch=2)
    for question, text in zip(QUESTIONS, given, strict=True):
        ids = torch.tensor([prompts.prefix + prompts.question(question)])
        for _ in range(5):
            following = tiny_base.model(ids).logits[:, -1:].argmax(-1)
            if int(following) == prompts.end:
                break
            ids = torch.cat([ids, following], dim=1)
        start = len(prompts.prefix + prompts.question(question))
        assert text == prompts.text(ids[0, start:].tolist()).strip()


def test_each_row_of_a_batch_has_its_own_documents_adapter(tiny_base: Base, hypernetwork: Hypernetwork) -> None:
    chunked = hypernetwork.config.model_copy(update={"max_chunk_length": 60})
    network = Hypernetwork(chunked)
    network.load_state_dict(hypernetwork.state_dict())
    network.requires_grad_(False)
    ids = torch.tensor([[5, 6, 7, 8]])
    with adapted(tiny_base, network, DOCUMENTS):
        together = tiny_base.model(ids.expand(3, -1)).logits
    affixes = chunk_affixes(tiny_base.tokenizer, tiny_base.name)
    for document, logits in zip(DOCUMENTS, together, strict=True):
        chunks = split_chunks(document_ids(tiny_base.tokenizer, tiny_base.name, document), 60, affixes)
        factors = merge_chunks(network, chunk_factors(network, tiny_base.model, chunks))
        with applied(tiny_base.model, factors, chunked):
            alone = tiny_base.model(ids).logits[0]
        assert torch.allclose(logits, alone, atol=1e-3, rtol=1e-3)
    assert not torch.allclose(together[0], together[1], atol=1e-2)


def test_sessions_add_a_row(tiny_base: Base, silent: Hypernetwork, tmp_path: Path) -> None:
    names = [row.row for row in evaluate(tiny_base, silent, documents=1, seed=0, batch=50, sessions=["Task: a\nb"])]
    assert "one fact in a real session" in names
    assert len(names) == 11
