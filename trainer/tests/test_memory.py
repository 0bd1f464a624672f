from pathlib import Path

from imprint_trainer.models.memory import release_freed_memory


def resident() -> int:
    """Pages of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])


def test_what_was_freed_between_kept_blocks_goes_back_to_the_system() -> None:
    blocks = [bytearray(b"x" * 60_000) for _ in range(4000)]  # each too small for a mapping of its own
    kept = blocks[::100]
    del blocks
    before = resident()
    release_freed_memory()
    assert before - resident() > 20_000  # of about 58,000 pages
    assert len(kept) == 40
