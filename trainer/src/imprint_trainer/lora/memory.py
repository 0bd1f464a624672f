"""Peak memory of this process."""

import sys

import torch


def peak_memory_mb(device: torch.device) -> float:
    """On CUDA what the allocator held at most; on CPU the largest resident size so far. MB of 10^6 bytes."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 1e6
    if sys.platform == "win32":
        import psutil

        return float(psutil.Process().memory_info().peak_wset) / 1e6
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
