"""Steps of one real preparation, at every length of window: decided by the session, not by the machine's memory."""

import json
from pathlib import Path

import pytest

from imprint_bench.steps import main


@pytest.mark.parametrize("tokens", [3000, 12_000])
def test_the_length_of_windows_changes_no_profiles_steps(
    tiny_folder: Path, capsys: pytest.CaptureFixture[str], tokens: int
) -> None:
    windows = ["1024", "4096", "8192", "32768"]
    assert main(["--base", str(tiny_folder), "--tokens", str(tokens), "--windows", *windows]) == 0
    rows = json.loads(capsys.readouterr().out)["steps"]
    assert [one["window"] for one in rows] == [1024, 4096, 8192, 32_768]
    for profile in ("learn", "remember"):
        steps = [one[profile] for one in rows]
        assert max(steps) <= 1.2 * min(steps), (profile, steps)
