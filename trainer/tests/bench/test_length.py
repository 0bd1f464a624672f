"""What passes over long sessions cost, from a few steps that are timed."""

import json
from pathlib import Path

import pytest

from imprint_bench.length import Step, fitted, main, release_freed_memory


def step(tokens: int, seconds: float) -> Step:
    return Step(tokens, seconds, checkpointing=False, peak_mb=0, predicted_mb=0)


def test_the_fit_finds_what_a_token_and_what_attention_costs() -> None:
    cost = fitted([step(n, 0.01 * n + 2e-6 * n**2) for n in (100, 1000, 5000)])
    assert cost.linear == pytest.approx(0.01)
    assert cost.quadratic == pytest.approx(2e-6)
    assert cost.seconds(20_000) == pytest.approx(0.01 * 20_000 + 2e-6 * 20_000**2)


def test_one_step_alone_says_nothing_of_attention() -> None:
    assert fitted([step(100, 2.0)]).seconds(50) == pytest.approx(1.0)


def test_a_pass_is_computed_from_the_steps_that_were_timed(
    tiny_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--base", str(tiny_folder), "--device", "cpu", "--threads", "1", "--max-length", "512"]
    assert main([*words, "--tokens", "400", "2000", "4000"]) == 0
    found = json.loads(capsys.readouterr().out)
    lengths = [step["tokens"] for step in found["steps"]]
    assert all(step["seconds"] > 0 and step["peak_mb"] > 0 and step["predicted_mb"] > 0 for step in found["steps"])
    assert all(abs(one / other - 1) > 0.1 for at, one in enumerate(lengths) for other in lengths[:at])
    assert [one["size"] for one in found["sessions"]] == [400, 2000, 4000]
    last = found["sessions"][-1]
    assert last["windows"] > 1
    assert last["longest"] <= 512
    assert 0 < last["supervised_share"] < last["new_share"] <= 1
    assert last["ms_per_token"] == pytest.approx(1000 * last["pass_seconds"] / last["tokens"])


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
