"""CUDA's answers are passed in: no machine that runs the tests has to have it."""

from collections.abc import Iterator

import pytest
import torch

from imprint_trainer.jobs.worker import Worker
from imprint_trainer.models.device import compute_dtype, fix_numerics

CPU, CUDA = torch.device("cpu"), torch.device("cuda")


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    yield
    fix_numerics(CPU, 1)


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
