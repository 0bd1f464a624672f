from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from imprint_trainer.adapters.attach import attached
from imprint_trainer.adapters.write import write_weights
from imprint_trainer.doc_to_lora.evaluation.answers import answers
from imprint_trainer.doc_to_lora.evaluation.fact_cases import FactCases
from imprint_trainer.doc_to_lora.evaluation.facts import SETS
from imprint_trainer.doc_to_lora.evaluation.imprints import Imprinter
from imprint_trainer.doc_to_lora.evaluation.question_cases import QuestionCases
from imprint_trainer.doc_to_lora.evaluation.results import Results, measure
from imprint_trainer.doc_to_lora.evaluation.session_cases import SessionCases
from imprint_trainer.doc_to_lora.generate import generate_adapter
from imprint_trainer.doc_to_lora.ridge.command import config_for
from imprint_trainer.doc_to_lora.ridge.load import Ridge
from imprint_trainer.doc_to_lora.ridge.measure import measure as measure_statistics
from imprint_trainer.lora.loss import mean_loss
from imprint_trainer.models.base import LoadedBase

TEXTS = ["Task: moor it.", "Task: " + "find the bollard and the quay. " * 14]


def measured(imprinter: Imprinter, groups: Path, **changes: Any) -> Results:
    results: Results = {}
    measure([replace(SessionCases(imprinter, groups), **changes)], results, None, lambda _: None)
    return results


def changes_of(case: dict[str, Any]) -> Iterator[float]:
    yield from (case["adapter"] / case["base"] - 1, case["unrelated"] / case["base"] - 1, case["read"])
    yield from (*case["others"].values(), *case["neutral"].values())


def test_an_adapter_of_zeros_changes_nothing_anywhere(
    silent: Imprinter, groups: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silent.base.model.config, "max_position_embeddings", 4096)  # room for the text in context
    results = measured(silent, groups)
    assert len(results) == 4
    for case in results.values():
        assert set(changes_of(case)) == {0.0}
        assert len(case["neutral"]) == 10
        assert case["context"] != 0.0


def test_an_adapter_of_noise_harms_everywhere(noisy: Imprinter, groups: Path) -> None:
    for case in measured(noisy, groups).values():
        assert min(changes_of(case)) > 0.005


def test_an_adapter_that_calibration_refuses_leaves_the_base(noisy: Imprinter, groups: Path) -> None:
    for case in measured(replace(noisy, calibrated=True), groups, limit=2).values():
        assert case["scale"] == 0.0
        assert set(changes_of(case)) == {0.0}


def test_the_same_sessions_give_the_same_figures(noisy: Imprinter, groups: Path) -> None:
    assert measured(noisy, groups, limit=2) == measured(noisy, groups, limit=2)


def test_a_lora_of_the_text_is_measured_beside(silent: Imprinter, groups: Path) -> None:
    case = measured(silent, groups, limit=2, lora=True)["session", "harbour", "01", 1]
    assert case["lora"] != case["base"]
    assert case["lora_seconds"] > 0


def test_the_others_are_of_other_groups(silent: Imprinter, groups: Path) -> None:
    for key, case in measured(silent, groups).items():
        assert all(not name.startswith(f"{key[1]}/") for name in case["others"])


def test_the_adapter_is_the_one_that_stock_peft_loads(noisy: Imprinter, groups: Path, tmp_path: Path) -> None:
    sessions = SessionCases(noisy, groups)
    one = sessions.passages[1][0]
    case = sessions.case(("session", one.group, one.session, 1), {})
    base = noisy.base
    payload = generate_adapter(noisy.hypernetwork, base.model, base.tokenizer, one.text, scaling=1).adapter
    write_weights(tmp_path, payload)
    with attached(base, tmp_path) as model:
        assert mean_loss(model, one.rest, base.device) == pytest.approx(case["adapter"], rel=1e-4)


def test_each_row_of_a_batch_has_its_own_adapter(noisy: Imprinter) -> None:
    imprints = [noisy.of(text, ()) for text in TEXTS]
    assert imprints[0].chunks < imprints[1].chunks
    ids = torch.tensor([[5, 6, 7, 8]])
    with torch.no_grad():
        with noisy.on_rows(imprints):
            together = noisy.base.model(input_ids=ids.expand(2, -1)).logits
        for imprint, logits in zip(imprints, together, strict=True):
            with noisy.on(imprint):
                assert torch.allclose(logits, noisy.base.model(input_ids=ids).logits[0], atol=1e-3, rtol=1e-3)
    assert not torch.allclose(together[0], together[1], atol=1e-2)


def test_silent_adapters_leave_every_answer_as_it_is(silent: Imprinter, groups: Path) -> None:
    facts = FactCases(silent, SETS["dev"], 1, 1)
    asked = QuestionCases(SessionCases(silent, groups), facts, 3)
    texts = ["What is a quay?", "Who moors?"]
    bare = answers(silent, texts)
    assert bare == answers(silent, texts, [silent.of(text, ()) for text in TEXTS])
    results: Results = {("base answers", 0): {"right": [True] * 3, "answers": answers(silent, texts + texts[:1])}}
    measure([asked, facts], results, None, lambda _: None)
    case = results["facts", 0, 0]
    assert case["right"] == case["base"] == case["elsewhere"] == [False] * 6
    assert results["questions", "sessions", 0]["leaked"] == [False] * 3


def test_an_adapter_that_was_solved_for_a_session_helps_there_most(base: LoadedBase, groups: Path) -> None:
    config = config_for(base.model, "tiny").model_copy(update={"ridge": 10.0, "rank": 16})
    pieces = [[(7 * row + column) % 250 + 10 for column in range(60)] for row in range(20)]
    solved = Imprinter(base, Ridge(config, measure_statistics(base.model, config, pieces)[0]), calibrated=False)
    for case in measured(solved, groups, limit=2).values():
        assert case["read"] < -0.02
        assert case["adapter"] < case["base"]
