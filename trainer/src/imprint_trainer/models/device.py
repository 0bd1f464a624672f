"""Which device computes, in which number format, with how many threads: decided here alone.

Imports no torch by itself: previews and memory plans ask too, and importing it takes seconds.
"""

import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import torch

Device = Literal["cpu", "cuda"]

CGROUP = Path("/sys/fs/cgroup")  # of this process's container

# Where a driver of NVIDIA's shows itself on Linux: its own file, its device in a container, and WSL's.
DRIVERS = tuple(map(Path, ("/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg")))


def device_kind(requested: str = "auto") -> Device:
    """What the worker's setting means on this machine. Asks torch only where there may be a card."""
    if requested != "auto":
        return "cuda" if requested.startswith("cuda") else "cpu"
    if sys.platform == "linux" and not any(path.exists() for path in DRIVERS):
        return "cpu"
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def pick_device(requested: str = "auto") -> "torch.device":
    import torch

    return torch.device(device_kind() if requested == "auto" else requested)


@cache
def _described() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    return cpuinfo.read_text() if cpuinfo.is_file() else os.environ.get("PROCESSOR_IDENTIFIER", "")


def is_amd() -> bool:
    return "AuthenticAMD" in _described()


def multiplies_bf16() -> bool:
    """It has units for bf16 that are faster than those for fp32: AMX, or AVX-512's on AMD. Intel's AVX-512 alone, as
    virtual machines have it, takes 1.6 times as long as fp32 (141 and 232 GFLOPS); others emulate it."""
    flags = _described().split()
    return "amx_bf16" in flags or ("avx512_bf16" in flags and is_amd())


def native_bf16() -> bool:
    """Of the graphics card. Emulated bf16 is slower than fp32."""
    import torch

    return bool(torch.cuda.is_bf16_supported(including_emulation=False))


def compute_dtype(device: "torch.device", has_bf16: Callable[[], bool] = native_bf16) -> "torch.dtype":
    """fp32 on CPU (few CPUs multiply bf16 quickly); bf16 on CUDA where the card has it, else fp32: in fp16, gradients
    vanish without loss scaling, and Gemma's activations overflow."""
    import torch

    if device.type != "cuda":
        return torch.float32
    if has_bf16():
        return torch.bfloat16
    print("this GPU has no bf16: computing in fp32, which is slower and takes more memory", file=sys.stderr)
    return torch.float32


def mixed_precision(device: "torch.device", dtype: "torch.dtype") -> "torch.autocast":
    """Around the forward pass of a training on a base in `dtype`: in bf16, products with fp32 factors are bf16 too."""
    import torch

    return torch.autocast(device.type, torch.bfloat16, enabled=dtype == torch.bfloat16)


def physical_cores(cgroup: Path = CGROUP) -> int:
    """Cores this process may use, hyper-threads counted once: they share the one unit that multiplies. No more than
    the container's share of time allows: threads above it are halted."""
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    siblings = {_siblings(cpu) for cpu in allowed}
    return max(1, min(len(siblings), _allowed_cores(cgroup)))


def _allowed_cores(cgroup: Path) -> int:
    """cpu.max of cgroup v2: microseconds of each period, or `max`."""
    limit = cgroup / "cpu.max"
    quota, _, period = limit.read_text().strip().partition(" ") if limit.is_file() else ("max", "", "")
    return int(quota) // int(period) if quota.isdigit() and period.isdigit() and int(period) else sys.maxsize


def _siblings(cpu: int) -> str:
    topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    return topology.read_text().strip() if topology.is_file() else str(cpu)


def fix_numerics(device: "torch.device", threads: int | None = None) -> None:
    """The same work on the same CPU gives the same bits: threads fixed, deterministic kernels."""
    import torch

    torch.set_num_threads(threads or physical_cores())
    torch.use_deterministic_algorithms(device.type == "cpu")
    if device.type == "cpu":
        # On by default with the line above: filling what is overwritten took 4 to 8 % of hypernetwork training.
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
