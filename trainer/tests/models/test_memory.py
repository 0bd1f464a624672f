"""What is free, what of a request is refused for memory's sake, and what a training has held."""

import json
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch

from data.test_select import spec_of
from imprint_trainer.data.windows import Window, longest
from imprint_trainer.errors import BaseModelUnsupported, OutOfMemory
from imprint_trainer.models import memory as module
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.memory import (
    PeakMemory,
    available_bytes,
    available_mb,
    planned_memory,
    tensors_given_back,
    window_limit,
)
from training import settings, train_tiny


def container(folder: Path, *, limit: str, used: int, files: int) -> Path:
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon {used - files}\nfile {files}\ninactive_file {files}\nactive_file 0\n")
    return folder


def test_files_that_a_container_has_read_count_as_free(tmp_path: Path) -> None:
    assert available_bytes(container(tmp_path, limit="3000000", used=2_500_000, files=2_000_000)) == 2_500_000


def test_without_a_limit_the_machine_decides(tmp_path: Path) -> None:
    free = psutil.virtual_memory().available
    assert abs(available_bytes(container(tmp_path, limit="max", used=10, files=0)) - free) < 0.2 * free


def test_what_the_process_holds_already_is_available_to_it(tmp_path: Path) -> None:
    assert available_mb("cpu") * 1e6 > available_bytes()


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


MIB = 2**20


def given_back(wanted: bool) -> float:
    """Share of what every second one of 40 tensors of 2 MiB took."""
    with tensors_given_back(wanted):
        tensors = [torch.ones(2 * MIB, dtype=torch.uint8) for _ in range(40)]
        before = psutil.Process().memory_info().rss
        del tensors[::2]
        return float(before - psutil.Process().memory_info().rss) / (40 * MIB)


def test_tensors_between_others_are_given_back_only_where_that_is_wanted() -> None:
    # In a process of its own: what earlier tests freed would be taken first
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as fresh:
        shares = list(fresh.map(given_back, (True, False)))
    assert sys.platform != "linux" or (shares[0] > 0.9 and shares[1] < 0.1)


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
    monkeypatch.setattr(module, "available_mb", lambda _: megabytes)


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


@pytest.mark.parametrize("key", ["num_experts", "num_local_experts", "n_routed_experts"])
def test_a_mixture_of_experts_is_refused_by_name_before_a_window_is_planned(tmp_path: Path, key: str) -> None:
    folder = base_folder(tmp_path, **{key: 8})
    with pytest.raises(BaseModelUnsupported, match=rf"^{folder.name} is a mixture of experts"):
        window_limit(spec_of([], base_model=str(folder)), "cpu")


def test_a_dense_model_that_names_no_experts_or_one_is_none(tmp_path: Path) -> None:
    folder = base_folder(tmp_path, num_experts=0, num_local_experts=1, num_experts_per_tok=2, experts_note="none")
    assert window_limit(spec_of([], base_model=str(folder)), "cpu") > 0


def test_sizes_that_config_json_leaves_out_are_those_of_the_family(tmp_path: Path) -> None:
    # As Gemma 3's own files have it: heads and vocabulary are not named.
    text = {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34}
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "gemma3", "text_config": text}))
    (tmp_path / "model.safetensors").write_bytes(b"")
    memory = planned_memory(spec_of([], base_model=str(tmp_path)), 1024, device="cpu").memory
    assert memory is not None
    assert memory["weights_mb"] > 34 * 3 * 2560 * 10240 * 0.5 / MB


SEVEN_BILLION = {"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008}


@pytest.mark.parametrize(("card", "bytes_a_weight"), [(80_000, 2), (24_000, 0.52)])
def test_the_plan_of_a_card_has_plain_weights_where_twice_of_them_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, card: float, bytes_a_weight: float
) -> None:
    with_memory(monkeypatch, card)
    spec = spec_of([], base_model=str(base_folder(tmp_path, **SEVEN_BILLION)), quantization="nf4")
    memory = planned_memory(spec, 2048, device="cuda").memory
    assert memory is not None and memory["fits"]
    linears, embeddings = 32 * (4 * 4096**2 + 3 * 4096 * 11008), 2 * 4096 * 32000
    assert memory["weights_mb"] == pytest.approx((bytes_a_weight * linears + embeddings) / MB, rel=0.03)
