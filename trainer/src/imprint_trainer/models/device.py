"""What this machine's processor is good at. Imports no torch: the memory model asks too."""

import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import torch


@cache
def _described() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    return cpuinfo.read_text() if cpuinfo.is_file() else os.environ.get("PROCESSOR_IDENTIFIER", "")


def is_amd() -> bool:
    return "AuthenticAMD" in _described()


def multiplies_bf16() -> bool:
    """It has units for bf16 (avx512_bf16, which AMX brings along): twice as fast as fp32. Others emulate it."""
    return "avx512_bf16" in _described().split()


def pick_device(requested: str = "auto") -> torch.device:
    if requested != "auto":
        return torch.device(requested)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def native_bf16() -> bool:
    """Emulated bf16 is slower than fp32."""
    return bool(torch.cuda.is_bf16_supported(including_emulation=False))


def compute_dtype(device: torch.device, has_bf16: Callable[[], bool] = native_bf16) -> torch.dtype:
    """fp32 on CPU (few CPUs multiply bf16 quickly); bf16 on CUDA where the card has it, else fp32: in fp16, gradients
    vanish without loss scaling, and Gemma's activations overflow."""
    if device.type != "cuda":
        return torch.float32
    if has_bf16():
        return torch.bfloat16
    print("this GPU has no bf16: computing in fp32, which is slower and takes more memory", file=sys.stderr)
    return torch.float32


def mixed_precision(device: torch.device, dtype: torch.dtype) -> torch.autocast:
    """Around the forward pass of a training on a base in `dtype`: in bf16, products with fp32 factors are bf16 too."""
    return torch.autocast(device.type, torch.bfloat16, enabled=dtype == torch.bfloat16)


def physical_cores() -> int:
    """Cores this process may use, hyper-threads counted once: they share the one unit that multiplies."""
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    siblings = {_siblings(cpu) for cpu in allowed}
    return max(1, len(siblings))


def _siblings(cpu: int) -> str:
    topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    return topology.read_text().strip() if topology.is_file() else str(cpu)


def fix_numerics(device: torch.device, threads: int | None = None) -> None:
    """The same work on the same CPU gives the same bits: threads fixed, deterministic kernels."""
    torch.set_num_threads(threads or physical_cores())
    torch.use_deterministic_algorithms(device.type == "cpu")
    if device.type == "cpu":
        # On by default with the line above: filling what is overwritten took 4 to 8 % of hypernetwork training.
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
