"""What of a request is refused for memory's sake, and what is chosen."""

import json
from pathlib import Path
from typing import Any

import pytest

from data.test_shared import spec_of
from imprint_trainer.data.windows import Window, longest
from imprint_trainer.errors import OutOfMemory
from imprint_trainer.jobs import memory_plan
from imprint_trainer.models.memory import device_kind, planned_memory

WINDOWS = [Window((1,) * 400, (True,) * 400), Window((1,) * 4000, (True,) * 4000)]


def base_folder(folder: Path, **changes: Any) -> Path:
    sizes = {
        "hidden_size": 512,
        "num_hidden_layers": 8,
        "num_attention_heads": 8,
        "intermediate_size": 2048,
        "vocab_size": 32000,
    }
    (folder / "config.json").write_text(json.dumps(sizes | changes))
    (folder / "model.safetensors").write_bytes(b"")
    return folder


def with_memory(monkeypatch: pytest.MonkeyPatch, megabytes: float) -> None:
    monkeypatch.setattr(memory_plan, "available_mb", lambda _: megabytes)


def test_the_longest_window_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_memory(monkeypatch, 50_000)
    spec = spec_of([], base_model=str(base_folder(tmp_path)))
    long, short = (planned_memory(spec, longest(windows), device="cpu").memory for windows in (WINDOWS, WINDOWS[:1]))
    assert long is not None and short is not None
    assert long["activations_mb"] == pytest.approx(10 * short["activations_mb"], rel=0.5)
    assert long["fits"] and long["available_mb"] == 50_000


def test_what_cannot_fit_is_refused_with_what_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_memory(monkeypatch, 1_400)
    planned = planned_memory(spec_of([], base_model=str(base_folder(tmp_path))), 4000, device="cpu")
    assert planned.checkpointing
    with pytest.raises(OutOfMemory, match=r"would take .* GB, and 1\.4 GB are available\. It fits with"):
        planned.require_fit()


def test_a_base_without_sizes_is_neither_predicted_nor_refused(tmp_path: Path) -> None:
    planned = planned_memory(spec_of([], base_model=str(base_folder(tmp_path, num_experts=8))), 4000, device="cpu")
    assert planned.memory is None
    planned.require_fit()


def test_a_card_is_looked_for_only_where_a_driver_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(memory_plan, "NVIDIA", tmp_path / "absent")
    assert device_kind("auto") == device_kind("cpu") == "cpu"
