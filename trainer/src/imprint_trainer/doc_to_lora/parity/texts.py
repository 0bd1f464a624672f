"""The integer and text fixtures: `chunking.json` and `context-text.json`."""

import random
from typing import Any

from imprint_trainer.doc_to_lora.chunks import Affixes, sample_chunk_count, split_chunks, split_into
from imprint_trainer.doc_to_lora.families import family_of
from imprint_trainer.doc_to_lora.parity.compare import Check
from imprint_trainer.doc_to_lora.prompt import render_document

FIRST_ID = 1000  # chunking.json: ids count up from here, those below are affixes


def run_chunking(fixture: dict[str, Any]) -> list[Check]:
    checks = [_same(f"n={c['n']} max={c['max_chunk_len']}", _evaluation(c), _wanted(c)) for c in fixture["cases"]]
    for case in fixture.get("train_cases", []):
        name = f"train n={case['n']} {case['num_chunk_probs']}"
        checks.append(_same(name, _training(case), _wanted(case)))
    return checks


def run_texts(fixture: dict[str, Any]) -> list[Check]:
    checks = []
    for case in fixture["cases"]:
        known = family_of(case["model"]) is not None
        got = render_document(None, case["model"], case["text"]) if known else "not a family with a known template"
        checks.append(_same(f"{case['model']} {case['text'][:12]!r}", got, case["rendered"]))
    return checks


def _evaluation(case: dict[str, Any]) -> object:
    ids = range(FIRST_ID, FIRST_ID + case["n"])
    return _counted(split_chunks(ids, case["max_chunk_len"], _affixes(case)))


def _training(case: dict[str, Any]) -> object:
    try:
        count = sample_chunk_count(
            case["n"],
            {int(count): weight for count, weight in case["num_chunk_probs"].items()},
            min_chunk_length=case["min_chunk_len"],
            max_chunk_length=case["max_chunk_len"],
            generator=random.Random(0),
        )
    except ValueError:
        return "no feasible chunk count"
    return _counted(split_into(range(FIRST_ID, FIRST_ID + case["n"]), count, _affixes(case)))


def _wanted(case: dict[str, Any]) -> object:
    if "error" in case:
        return case["error"]
    chunks, edges = case["ctx_ids"], case.get("boundaries")
    own = [[i for i in chunk if i >= FIRST_ID] for chunk in chunks]
    if edges is not None and own != [list(range(FIRST_ID + start, FIRST_ID + end)) for start, end in edges]:
        return "boundaries that contradict ctx_ids"
    return (case["n_ctx_chunks"], chunks)


def _counted(chunks: list[list[int]]) -> tuple[int, list[list[int]]]:
    return (len(chunks), chunks)


def _affixes(case: dict[str, Any]) -> Affixes:
    return Affixes(tuple(case["prefix"]), tuple(case["suffix"]))


def _same(name: str, got: object, wanted: object) -> Check:
    return Check(name, 0.0) if got == wanted else Check(name, float("inf"), f"got {got}, expected {wanted}")
