import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hub_double import COMMIT, TOKEN, Hub, hub_double

SOURCES = Path(__file__).parents[2] / "src"


@pytest.fixture
def files(tiny_folder: Path) -> dict[str, bytes]:
    """A model with code and pickles beside it, which nobody needs."""
    whole = {path.name: path.read_bytes() for path in tiny_folder.iterdir() if path.is_file()}
    return {**whole, "modeling_tiny.py": b"raise SystemExit", "pytorch_model.bin": b"\x80"}


def pull(hub: Hub, home: Path, *, code: str = "") -> subprocess.CompletedProcess[str]:
    """As imprint models pull runs it; without the accelerated storage, which is not the hub's own API."""
    env = os.environ | {"PYTHONPATH": str(SOURCES), "HF_ENDPOINT": hub.url, "HF_HOME": str(home), "HF_TOKEN": TOKEN}
    env |= {"HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1", "IMPRINT_ALLOW_DOWNLOADS": "1", "NO_PROXY": "127.0.0.1"}
    program = f"{code}\nimport sys\nfrom imprint_trainer.__main__ import main\nsys.exit(main())"
    command = [sys.executable, "-c", program, "models", "pull", "me/tiny", "--out", str(home / "out")]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=200, check=False)


def refusal(ended: subprocess.CompletedProcess[str]) -> str:
    """The sentence of a pull that failed."""
    assert ended.returncode == 1, ended.stderr
    return str(json.loads(ended.stdout)["error"]["message"])


def snapshot(home: Path) -> Path:
    return home / "hub" / "models--me--tiny" / "snapshots" / COMMIT


def test_what_a_model_needs_is_fetched_and_no_code(files: dict[str, bytes], tmp_path: Path) -> None:
    with hub_double() as hub:
        hub.files = files | {"consolidated.safetensors": b"the same once more"}
        done = pull(hub, tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"folder": str(snapshot(tmp_path))}
    fetched = {path.name: path.read_bytes() for path in snapshot(tmp_path).iterdir()}
    assert fetched == {name: body for name, body in files.items() if not name.endswith((".py", ".bin"))}
    assert "me/tiny: 0.0 GB in" in done.stderr


SMALL = "import huggingface_hub.constants as c; c.DOWNLOAD_CHUNK_SIZE = 4096"


def test_a_cut_is_a_sentence_and_the_next_pull_sends_the_rest_alone(files: dict[str, bytes], tmp_path: Path) -> None:
    with hub_double() as hub:
        hub.files, hub.cut = files, {"model.safetensors"}
        cut = pull(hub, tmp_path, code=SMALL)
        assert refusal(cut).endswith("was cut off. Pulling again goes on with what was fetched.")
        assert not (snapshot(tmp_path) / "model.safetensors").exists()
        before = hub.sent["model.safetensors"]
        assert before > len(files["model.safetensors"]) // 2
        hub.cut.clear()
        done = pull(hub, tmp_path)
        assert done.returncode == 0, done.stderr
    assert (snapshot(tmp_path) / "model.safetensors").read_bytes() == files["model.safetensors"]
    assert hub.sent["model.safetensors"] - before < len(files["model.safetensors"]) // 10


def test_weights_with_another_hash_are_removed(files: dict[str, bytes], tmp_path: Path) -> None:
    with hub_double() as hub:
        hub.files, hub.wrong = files, {"model.safetensors"}
        done = pull(hub, tmp_path)
    assert refusal(done).startswith("model.safetensors of me/tiny does not have the hash that the hub names")
    assert not any(path.name.endswith(".safetensors") for path in snapshot(tmp_path).iterdir())
    kept = [path for path in (tmp_path / "hub").rglob("*") if path.is_file()]
    assert all(path.stat().st_size < len(files["model.safetensors"]) for path in kept)


def test_a_gated_model_is_explained(files: dict[str, bytes], tmp_path: Path) -> None:
    with hub_double() as hub:
        hub.files, hub.gated = files, True
        done = pull(hub, tmp_path)
    assert refusal(done).startswith(
        f"me/tiny is gated: accept its terms at {hub.url}/me/tiny, then set HF_TOKEN or log in with"
    )
    assert TOKEN not in done.stdout + done.stderr


def test_a_model_that_the_hub_does_not_have_is_a_sentence(tmp_path: Path) -> None:
    with hub_double() as hub:
        done = pull(hub, tmp_path)
    assert refusal(done).startswith("the hub has no me/tiny, or it is private: check the name;")


def test_a_hub_that_cannot_be_reached_is_a_sentence(tmp_path: Path) -> None:
    done = pull(Hub(url="http://127.0.0.1:1"), tmp_path)
    assert refusal(done).startswith("the hub http://127.0.0.1:1 cannot be reached for me/tiny")
    assert "Traceback" not in done.stderr


def test_a_full_disk_is_said_before_the_weights_are_fetched(files: dict[str, bytes], tmp_path: Path) -> None:
    full = "import shutil; shutil.disk_usage = lambda _: type('Usage', (), {'free': 10**6})"
    with hub_double() as hub:
        hub.files = files
        done = pull(hub, tmp_path, code=full)
    assert "0.3 GB are needed in" in refusal(done)
    assert set(hub.sent) == {"config.json"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"auto_map": {"AutoModel": "modeling_tiny.X"}}, "me/tiny names code to run (auto_map)"),
        ({"model_type": "qwen2_moe", "num_experts": 8}, "is a mixture of experts"),
        ({"quantization_config": {"quant_method": "awq"}}, "me/tiny is stored quantised (awq)"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_its_weights_are_fetched(
    files: dict[str, bytes], tmp_path: Path, change: dict[str, object], said: str
) -> None:
    with hub_double() as hub:
        hub.files = {**files, "config.json": json.dumps({**json.loads(files["config.json"]), **change}).encode()}
        done = pull(hub, tmp_path)
    assert set(hub.sent) == {"config.json"}
    assert said in refusal(done)
