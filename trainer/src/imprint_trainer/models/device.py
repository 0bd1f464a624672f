"""The device, its number format, and a fixed number of threads."""

import os
from pathlib import Path

import torch


def pick_device(requested: str = "auto") -> torch.device:
    if requested != "auto":
        return torch.device(requested)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def compute_dtype(device: torch.device) -> torch.dtype:
    """fp32 on CPU (few CPUs multiply bf16 quickly), bf16 on CUDA."""
    return torch.bfloat16 if device.type == "cuda" else torch.float32


def physical_cores() -> int:
    """Cores this process may use, hyper-threads counted once: they share the one unit that multiplies."""
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    siblings = {_siblings(cpu) for cpu in allowed}
    return max(1, len(siblings))


def _siblings(cpu: int) -> str:
    topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    return topology.read_text().strip() if topology.is_file() else str(cpu)


def fix_numerics(threads: int | None = None) -> None:
    """The same work on the same machine gives the same bits: threads fixed, deterministic kernels."""
    torch.set_num_threads(threads or physical_cores())
    if not torch.cuda.is_available():
        torch.use_deterministic_algorithms(True)
        # On by default with the line above: filling what is overwritten took 4 to 8 % of hypernetwork training.
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def available_bytes() -> int:
    """Memory that could be taken without swapping, within the container's limit."""
    import psutil

    free = int(psutil.virtual_memory().available)
    limit, used = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")
    if limit.is_file() and used.is_file() and (text := limit.read_text().strip()).isdigit():
        free = min(free, int(text) - int(used.read_text()))
    return max(0, free)
