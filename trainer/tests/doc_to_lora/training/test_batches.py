from dataclasses import replace
from pathlib import Path

import torch

from imprint_trainer.doc_to_lora.training.base import Base
from imprint_trainer.doc_to_lora.training.batches import Batch, batch_maker
from imprint_trainer.doc_to_lora.training.prompts import Prompts
from imprint_trainer.doc_to_lora.training.retention import RetentionRow
from imprint_trainer.doc_to_lora.training.retention_cache import KINDS
from imprint_trainer.doc_to_lora.training.sources import open_source

from .small import small_config

ROW, FOREIGN = (RetentionRow(kind, [1], [2], torch.zeros(1, 4), torch.zeros(1, 4)) for kind in KINDS[:2])


def make(
    base: Base,
    step: int,
    *,
    data: str = "synthetic",
    longest: int = 10_000,
    held: tuple[RetentionRow, ...] = (ROW, FOREIGN),
    **changes: object,
) -> Batch:
    config = small_config(**changes)
    prompts = Prompts(base.tokenizer)
    return batch_maker(base, prompts, config, open_source(data, questions=20), held, max_chunk_length=longest)(step)


def test_a_batch_is_a_function_of_seed_and_step(tiny_base: Base) -> None:
    assert make(tiny_base, 4) == make(tiny_base, 4)
    assert make(tiny_base, 4).chunks != make(tiny_base, 5).chunks
    assert make(tiny_base, 4).chunks != make(tiny_base, 4, seed=1).chunks


def test_every_document_has_chunks_and_a_question(tiny_base: Base) -> None:
    batch = make(tiny_base, 0, documents=8)
    assert sum(batch.chunk_counts) == len(batch.chunks)
    assert len(batch.chunk_counts) == 8
    assert {row.context for row in batch.answers} == set(range(8))
    assert max(batch.chunk_counts) == 2


def test_the_share_of_retention_rows_is_the_configs(tiny_base: Base) -> None:
    counts = {
        share: sum(len(make(tiny_base, step, documents=8, retention={"share": share}).retention) for step in range(10))
        for share in (0.0, 0.5, 1.0)
    }
    assert counts[0.0] == 0
    assert 25 < counts[0.5] < 55
    assert counts[1.0] == 80


def test_the_share_of_steps_on_whole_prompts_is_the_configs(tiny_base: Base) -> None:
    whole = {
        share: sum(make(tiny_base, step, documents=1, whole_prompt=share).whole_prompt for step in range(60))
        for share in (0.0, 0.5, 1.0)
    }
    assert whole[0.0] == 0
    assert 18 < whole[0.5] < 42
    assert whole[1.0] == 60


def test_adapters_are_held_harder_once_the_learning_rate_falls(tiny_base: Base) -> None:
    weights = {"retention": {"weight": 3.0, "final_weight": 7.0}, "steps": 10, "decay": 0.4}
    assert [make(tiny_base, step, documents=1, **weights).retention_weight for step in (0, 5, 6, 9)] == [3, 3, 7, 7]


def test_other_entities_questions_are_held_once_documents_have_several_facts(tiny_base: Base) -> None:
    stages = [{"until": 0.5, "max_facts": 1}, {"until": 1.0, "max_facts": 2}]
    early, late = (
        make(tiny_base, step, documents=40, stages=stages, retention={"share": 1.0}).retention for step in (0, 5)
    )
    assert {held.row.kind for held in early} == {"unrelated"}
    assert {held.row.kind for held in late} == {"unrelated", "foreign"}


def test_other_entities_questions_are_held_as_often_as_their_odds_say(tiny_base: Base) -> None:
    stages = [{"until": 1.0, "max_facts": 2}]
    for odds, least, most in ((0.25, 40, 80), (1.0, 120, 180), (4.0, 220, 260)):  # of 300: 60, 150, 240
        retention = {"share": 1.0, "foreign_odds": odds}
        held = make(tiny_base, 0, documents=300, stages=stages, retention=retention).retention
        assert least < sum(one.row.kind == "foreign" for one in held) < most


def test_prose_is_held_as_often_as_questions_however_many_pieces_there_are(tiny_base: Base) -> None:
    prose = replace(ROW, kind="prose")
    batch = make(tiny_base, 0, documents=300, retention={"share": 1.0}, held=(prose, prose, prose, prose, ROW))
    assert 110 < sum(one.row.kind == "prose" for one in batch.retention) < 190


def test_a_long_document_gets_the_chunks_that_it_needs(tiny_base: Base, tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text('{"document": "%s", "question": "q?", "answer": "a"}\n' % ("word " * 100), encoding="utf-8")
    batch = make(tiny_base, 0, data=str(file), longest=64, documents=1)
    assert batch.chunk_counts[0] > 3


def test_parts_hold_every_document_with_its_rows_once(tiny_base: Base) -> None:
    batch = make(tiny_base, 1, documents=7, retention={"share": 1.0})
    for count in (1, 2, 3, 20):
        parts = batch.parts(count)
        assert len(parts) == min(count, 7)
        assert sorted(chunk for part in parts for chunk in part.chunks) == sorted(batch.chunks)
        texts = sorted((row.example.document, row.example.question) for part in parts for row in part.answers)
        assert texts == sorted((row.example.document, row.example.question) for row in batch.answers)
        for part in parts:
            assert sum(part.chunk_counts) == len(part.chunks)
            assert {row.context for row in part.answers} == set(range(len(part.chunk_counts)))
            assert part.held_in_step == len(batch.retention) == sum(len(one.retention) for one in parts)
