"""Memory that a training may take. Imports no torch but where a card is asked."""

from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")


def available_mb(device: str) -> float:
    """All that this process may hold, what it holds already included, in MB of 10^6 bytes: of the card on CUDA."""
    if device.startswith("cuda"):
        import torch

        return (torch.cuda.mem_get_info(device)[0] + torch.cuda.memory_reserved(device)) / 1e6
    import psutil

    return (available_bytes() + int(psutil.Process().memory_info().rss)) / 1e6


def available_bytes(cgroup: Path = CGROUP) -> int:
    """What could be taken without swapping, within the container's limit."""
    import psutil

    free = int(psutil.virtual_memory().available)
    limit, used = cgroup / "memory.max", cgroup / "memory.current"
    if limit.is_file() and used.is_file() and (text := limit.read_text().strip()).isdigit():
        free = min(free, int(text) - int(used.read_text()) + reclaimable(cgroup))
    return max(0, free)


def reclaimable(cgroup: Path) -> int:
    """Bytes of files that the container's limit counts, and that the system drops when memory is needed."""
    stat = cgroup / "memory.stat"
    lines = stat.read_text().splitlines() if stat.is_file() else []
    return sum(int(line.split()[1]) for line in lines if line.startswith(("inactive_file ", "active_file ")))
