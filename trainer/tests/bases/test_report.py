"""`models pull --report`, as the service runs it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hub_double import TOKEN, Hub, hub_double

SOURCES = Path(__file__).parents[2] / "src"
# Stands for a pull that is in the middle of its download.
HELD = """
import threading
from imprint_trainer.bases import cli
from imprint_trainer.bases.progress import Step
def held(name, progress):
    progress(Step("downloading", 1, 2))
    threading.Event().wait()
cli.pull_hub = held
"""


def start(hub: Hub, home: Path, code: str = "") -> subprocess.Popen[str]:
    env = os.environ | {"PYTHONPATH": str(SOURCES), "HF_ENDPOINT": hub.url, "HF_HOME": str(home), "HF_TOKEN": TOKEN}
    env |= {"HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1", "IMPRINT_ALLOW_DOWNLOADS": "1", "NO_PROXY": "127.0.0.1"}
    program = f"{code}\nimport sys\nfrom imprint_trainer.__main__ import main\nsys.exit(main())"
    command = [sys.executable, "-c", program, "models", "pull", "me/tiny", "--out", str(home / "out"), "--report"]
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(command, env=env, text=True, start_new_session=True, **pipes)


def lines(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    """All that it says until it ends by itself: its stdin stays open."""
    assert process.stdout is not None
    said = [json.loads(line) for line in process.stdout]
    process.wait(200)
    process.communicate()
    return said


def test_a_pull_tells_in_bytes_how_far_it_is(tiny_folder: Path, tmp_path: Path) -> None:
    with hub_double() as hub:
        hub.files = {path.name: path.read_bytes() for path in tiny_folder.iterdir() if path.is_file()}
        pulling = start(hub, tmp_path)
        said = lines(pulling)
    assert pulling.returncode == 0, said
    assert said[0]["doing"].startswith("me/tiny: 0.0 GB in")
    assert Path(said[-1]["folder"]).is_dir()


def test_a_refusal_has_its_hint_apart(tiny_folder: Path, tmp_path: Path) -> None:
    with hub_double() as hub:
        hub.files = {path.name: path.read_bytes() for path in tiny_folder.iterdir() if path.is_file()}
        hub.gated = True
        pulling = start(hub, tmp_path)
        error = lines(pulling)[-1]["error"]
    assert pulling.returncode == 1
    assert (error["code"], error["hint"]) == ("DOWNLOAD_FAILED", "Pulling again goes on with what was fetched.")
    assert error["message"].startswith("me/tiny is gated: accept its terms at")
    assert not error["message"].endswith("fetched.")


@pytest.mark.parametrize("end", ["SIGTERM", "stdin"])
def test_a_pull_ends_when_it_is_told_to_or_its_service_is_gone(tmp_path: Path, end: str) -> None:
    pulling = start(Hub(), tmp_path, HELD)
    assert pulling.stdin is not None
    assert pulling.stdout is not None
    assert json.loads(pulling.stdout.readline()) == {"doing": "downloading", "done": 1, "total": 2}
    if end == "stdin":
        pulling.stdin.close()
    else:
        pulling.send_signal(signal.SIGTERM)
    assert json.loads(pulling.stdout.readline())["error"]["message"].startswith("Stopped: what was fetched is kept")
    assert pulling.wait(100) == 130


def test_what_a_training_takes_is_said_of_each_base(tiny_folder: Path, tmp_path: Path) -> None:
    env = os.environ | {"PYTHONPATH": str(SOURCES), "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-m", "imprint_trainer", "models", "fits", str(tiny_folder), str(tmp_path)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=200, check=True)
    first, second = json.loads(done.stdout)["trainings"]
    assert first["fits"]
    assert first["total_mb"] > 0
    assert first["window"] >= 128
    assert second is None
