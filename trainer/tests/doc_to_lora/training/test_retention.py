from collections import Counter
from pathlib import Path

import torch

from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.config import RetentionConfig
from imprint_trainer.doc_to_lora.training.frozen_base import FrozenBase
from imprint_trainer.doc_to_lora.training.prompts import Prompts
from imprint_trainer.doc_to_lora.training.retention import (
    OPENING_TOKENS,
    RetentionRow,
    make_retention_rows,
    retention_questions,
)
from imprint_trainer.doc_to_lora.training.retention_cache import ROWS, load_rows, save_rows

CONFIG = RetentionConfig(unrelated=3, own=2, foreign=2, prose=2, answer_tokens=4)


def make(base: Base) -> list[RetentionRow]:
    prompts = Prompts(base.tokenizer)
    frozen = FrozenBase(base.model, prompts.prefix)
    return make_retention_rows(frozen, prompts, CONFIG, words=["harbor"], k=6, seed=0, on_progress=lambda _, __: None)


def test_rows_hold_the_bases_own_likeliest_tokens(tiny_base: Base) -> None:
    for row in make(tiny_base):
        whole = tiny_base.model(torch.tensor([row.ids])).logits[0, :-1].log_softmax(-1).topk(6)
        assert torch.allclose(row.log_probs, whole.values, atol=1e-3)
        if row.kind != "prose":  # which is sampled
            answered = row.targets[-4:, 0].tolist()
            assert answered == row.ids[-4:]  # greedy: the likeliest tokens are the answer


def test_all_of_a_text_but_its_opening_is_held_in_pieces(tiny_base: Base) -> None:
    prose = [row for row in make(tiny_base) if row.kind == "prose"]
    begins = [index for index, row in enumerate(prose) if len(row.question) == OPENING_TOKENS]
    assert len(begins) == CONFIG.prose
    for index, row in enumerate(prose[1:], start=1):
        assert index in begins or row.question == prose[index - 1].ids
    assert len(prose) > 20


def test_other_entities_are_made_of_the_words_that_documents_are_made_of() -> None:
    config = RetentionConfig(unrelated=0, own=0, foreign=40, prose=0)
    asked = retention_questions(config, 0, [], ["quagga"])
    assert len(asked) == 40 and {kind for _, kind in asked} == {"foreign"}
    assert 5 < sum("quagga" in text.lower() for text, _ in asked) < 40  # the others are invented or listed


def test_rows_come_back_from_disk_to_the_bit(tiny_base: Base, tmp_path: Path) -> None:
    rows = make(tiny_base)
    save_rows(tmp_path, {"seed": 0}, rows)
    loaded = load_rows(tmp_path, {"seed": 0})
    assert loaded is not None
    assert [(row.kind, row.question, row.answer) for row in loaded] == [
        (row.kind, row.question, row.answer) for row in rows
    ]
    kinds = Counter(row.kind for row in rows)
    assert (kinds["unrelated"], kinds["foreign"]) == (5, 2)
    for a, b in zip(loaded, rows, strict=True):
        assert torch.equal(a.targets, b.targets)
        assert torch.equal(a.log_probs, b.log_probs)


def test_rows_of_other_settings_or_damaged_ones_are_made_again(tiny_base: Base, tmp_path: Path) -> None:
    assert load_rows(tmp_path, {"seed": 0}) is None
    save_rows(tmp_path, {"seed": 0}, make(tiny_base))
    assert load_rows(tmp_path, {"seed": 1}) is None
    (tmp_path / ROWS).write_bytes(b"torn")
    assert load_rows(tmp_path, {"seed": 0}) is None
