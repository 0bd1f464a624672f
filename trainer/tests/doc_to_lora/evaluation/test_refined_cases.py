from pathlib import Path

from imprint_trainer.doc_to_lora.evaluation.imprints import Imprinter
from imprint_trainer.doc_to_lora.evaluation.refined_cases import STEPS, RefinedCases
from imprint_trainer.doc_to_lora.evaluation.session_cases import SessionCases
from imprint_trainer.doc_to_lora.evaluation.table import rows_of


def test_steps_stand_beside_trainings_from_nothing(noisy: Imprinter, groups: Path) -> None:
    cases = RefinedCases(SessionCases(noisy, groups, limit=1, windows=1))
    (key,) = cases.keys({})
    found = cases.case(key, {})["variants"]
    imprints = [found[f"{steps} steps"] for steps in STEPS]
    reads = [one["read"] for one in imprints]
    assert reads == sorted(reads, reverse=True)
    assert found["LoRA, equal time"]["steps"] >= 1
    assert found["LoRA"]["read"] < 0
    rows = {row.row: row for row in rows_of({key: {"variants": found}})}
    assert rows["20 steps: what follows, 1 chunks"].value == imprints[-1]["rest"]
    assert rows["LoRA: processor seconds, 1 chunks"].value == found["LoRA"]["seconds"]
