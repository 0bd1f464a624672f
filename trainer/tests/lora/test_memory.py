from pathlib import Path

import psutil
import pytest
import torch

from imprint_trainer.data.windows import Window
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.memory import PeakMemory
from training import settings, train_tiny

CPU = torch.device("cpu")
BLOCK = 300_000_000  # bytes: a mapping of its own, which goes back to the system as soon as it is freed
MB = 1e6


def hold_and_free() -> None:
    block = bytearray(b"x" * BLOCK)
    del block


def resident_mb() -> float:
    return float(psutil.Process().memory_info().rss) / MB


def test_a_training_does_not_report_what_was_held_before_it(base: LoadedBase, windows: list[Window]) -> None:
    hold_and_free()
    before = resident_mb()
    progress: list[dict[str, float]] = []
    train_tiny(base, windows, settings(epochs=1), on_step=progress.append)
    assert before * 0.9 < progress[-1]["peak_memory_mb"] < before + BLOCK / MB / 2


def test_what_was_held_between_two_readings_counts() -> None:
    memory, before = PeakMemory(CPU), resident_mb()
    hold_and_free()
    assert memory.mb() > before + BLOCK / MB * 0.9
    assert resident_mb() < before + BLOCK / MB / 2


def test_without_a_resettable_mark_the_largest_reading_counts(tmp_path: Path) -> None:
    memory = PeakMemory(CPU, proc=tmp_path)  # as on other systems, and in containers that deny it
    block = bytearray(b"x" * BLOCK)
    high = memory.mb()
    del block
    assert memory.mb() == high
    assert PeakMemory(CPU, proc=tmp_path).mb() < high - BLOCK / MB / 2


def test_on_cuda_the_allocators_peak_begins_with_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    peak = {"cuda:0": 9_000_000}
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", lambda device: peak.update({str(device): 1_000_000}))
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda device: peak[str(device)])
    memory = PeakMemory(torch.device("cuda:0"))
    assert memory.mb() == 1.0
    peak["cuda:0"] = 2_500_000
    assert memory.mb() == 2.5
