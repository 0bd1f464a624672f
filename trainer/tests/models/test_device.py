"""CUDA's answers are passed in: no machine that runs the tests has to have it."""

from pathlib import Path

import pytest
import torch

from imprint_trainer.jobs.worker import Worker
from imprint_trainer.models import device as module
from imprint_trainer.models.device import compute_dtype, device_kind, fix_numerics, physical_cores, pick_device

CPU, CUDA = torch.device("cpu"), torch.device("cuda")


@pytest.mark.parametrize("has_cuda", [True, False])
def test_a_worker_told_to_use_the_cpu_is_deterministic_beside_a_gpu_too(
    monkeypatch: pytest.MonkeyPatch, has_cuda: bool
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_cuda)
    torch.use_deterministic_algorithms(False)
    Worker(device="cpu", threads=1).warm(None)
    assert torch.are_deterministic_algorithms_enabled()


def test_numerics_follow_the_device() -> None:
    fix_numerics(CUDA, 1)
    assert not torch.are_deterministic_algorithms_enabled()
    fix_numerics(CPU, 1)
    assert torch.are_deterministic_algorithms_enabled()


@pytest.mark.parametrize(
    ("device", "bf16", "dtype", "said"),
    [
        (CPU, False, torch.float32, ""),
        (CPU, True, torch.float32, ""),
        (CUDA, True, torch.bfloat16, ""),
        (CUDA, False, torch.float32, "no bf16"),
    ],
)
def test_bf16_is_used_only_on_a_card_that_has_it(
    device: torch.device, bf16: bool, dtype: torch.dtype, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compute_dtype(device, has_bf16=lambda: bf16) is dtype
    err = capsys.readouterr().err
    assert (said in err) if said else not err


@pytest.mark.parametrize(
    ("flags", "faster"),
    [
        ("AuthenticAMD fma avx2 avx512f", False),
        ("AuthenticAMD fma avx2 avx512f avx512_bf16", True),
        ("GenuineIntel fma avx2 avx512f avx512_bf16 amx_bf16 amx_tile", True),
        ("GenuineIntel fma avx2 avx512f avx512_bf16 avx512_fp16", False),
        ("", False),
    ],
)
def test_bf16_is_multiplied_only_where_that_is_faster(
    flags: str, faster: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_described", lambda: flags)
    assert module.multiplies_bf16() is faster


@pytest.mark.parametrize("requested", ["auto", "cpu", "cuda"])
@pytest.mark.parametrize("usable", [True, False])
@pytest.mark.parametrize("driver", [True, False])
def test_what_is_planned_for_is_the_device_that_computes(
    requested: str, usable: bool, driver: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: usable)
    monkeypatch.setattr(module, "DRIVERS", (tmp_path / "absent", tmp_path if driver else tmp_path / "absent too"))
    found = device_kind(requested)
    assert found == pick_device(requested).type
    assert found == (requested if requested != "auto" else "cuda" if usable and driver else "cpu")


def test_no_card_is_asked_for_where_no_driver_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DRIVERS", ())
    monkeypatch.setattr(module.sys, "platform", "linux")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: pytest.fail("torch was asked"))
    assert device_kind("auto") == "cpu"


@pytest.mark.parametrize(
    ("limit", "cores"),
    [
        ("200000 100000\n", 2),
        ("150000 100000\n", 1),
        ("50000 100000\n", 1),
        ("max 100000\n", 8),
        ("1600000 100000\n", 8),
        ("", 8),
        (None, 8),
    ],
)
def test_threads_are_no_more_than_the_container_may_use(
    limit: str | None, cores: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module.os, "sched_getaffinity", lambda _: range(8), raising=False)
    monkeypatch.setattr(module, "_siblings", str)
    if limit is not None:
        (tmp_path / "cpu.max").write_text(limit)
    assert physical_cores(tmp_path) == cores
