"""Peak memory of a job."""

from pathlib import Path

import psutil
import torch

PROC = Path("/proc/self")


class PeakMemory:
    """The most that was held since it was made, in MB of 10^6 bytes: on CUDA by the allocator, else by the process.

    Where the system keeps no mark that can be reset (not Linux, or denied), the largest of the readings so far.
    """

    def __init__(self, device: torch.device, proc: Path = PROC) -> None:
        self._device = device
        self._proc = proc
        self._largest = 0.0
        self._marked = False
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
        else:
            self._marked = reset_mark(proc)

    def mb(self) -> float:
        if self._device.type == "cuda":
            return torch.cuda.max_memory_allocated(self._device) / 1e6
        now = marked(self._proc) if self._marked else int(psutil.Process().memory_info().rss)
        self._largest = max(self._largest, now / 1e6)
        return self._largest


def reset_mark(proc: Path) -> bool:
    """proc(5): 5 in clear_refs makes the present resident size the peak."""
    try:
        with (proc / "clear_refs").open("r+") as file:  # not "w": where there is none, none is made
            file.write("5")
    except OSError:
        return False
    return True


def marked(proc: Path) -> int:
    """Bytes of the largest resident size since the mark was reset."""
    lines = (proc / "status").read_text(encoding="ascii", errors="replace").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
