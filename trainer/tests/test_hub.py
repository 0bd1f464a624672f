import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hub_double import TOKEN, Hub, hub_double

SOURCES = Path(__file__).parents[1] / "src"


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    folder = tmp_path / "adapter"
    folder.mkdir()
    (folder / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    (folder / "adapter_model.safetensors").write_bytes(bytes(range(256)) * 16)
    (folder / "README.md").write_text('---\nbase_model: "tiny"\n---\n# gates\n')
    return folder


def push(
    adapter: Path, hub: Hub, home: Path, *flags: str, token: str | None = TOKEN
) -> subprocess.CompletedProcess[str]:
    """As imprint push runs it; without the accelerated storage, which is not the hub's own API."""
    env = os.environ | {"PYTHONPATH": str(SOURCES), "HF_ENDPOINT": hub.url, "HF_HOME": str(home)}
    env |= {"HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
    env.pop("HF_TOKEN", None)
    if token is not None:
        env["HF_TOKEN"] = token
    command = [sys.executable, "-m", "imprint_trainer.hub", str(adapter), "me/gates", *flags]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)


def test_a_push_commits_every_file_of_the_adapter_at_once(adapter: Path, tmp_path: Path) -> None:
    with hub_double() as hub:
        done = push(adapter, hub, tmp_path / "home", "--private")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"repo": "me/gates", "url": f"{hub.url}/me/gates", "commit": "c" * 40}
    assert [(repo["organization"], repo["name"], repo["visibility"]) for repo in hub.created] == [
        ("me", "gates", "private")
    ]
    assert hub.commits == [{path.name: path.read_bytes() for path in adapter.iterdir()}]
    assert hub.tokens == {f"Bearer {TOKEN}"}
    assert TOKEN not in done.stdout + done.stderr
    kept = [path for path in (tmp_path / "home").rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]
    assert kept == []


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (401, "does not accept the token. Set HF_TOKEN"),
        (403, "The token may not write to me/gates."),
        (400, "answered with status 400"),
    ],
)
def test_a_refusal_of_the_hub_is_a_sentence(adapter: Path, tmp_path: Path, status: int, sentence: str) -> None:
    with hub_double(refuse=status) as hub:
        done = push(adapter, hub, tmp_path / "home")
    assert done.returncode == 1
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert TOKEN not in done.stdout + done.stderr


def test_without_a_token_nothing_is_sent(adapter: Path, tmp_path: Path) -> None:
    with hub_double() as hub:
        done = push(adapter, hub, tmp_path / "home", token=None)
    assert (done.returncode, hub.created, hub.tokens) == (1, [], set())
    assert "There is no token for the model hub. Set HF_TOKEN" in done.stderr


def test_a_folder_that_is_no_adapter_is_not_sent(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "key.txt").write_text("k")
    with hub_double() as hub:
        done = push(tmp_path / "secrets", hub, tmp_path / "home")
    assert (done.returncode, hub.tokens) == (1, set())
    assert "it holds no adapter_config.json" in done.stderr


def test_a_hub_that_cannot_be_reached_is_a_sentence(adapter: Path, tmp_path: Path) -> None:
    done = push(adapter, Hub(url="http://127.0.0.1:1"), tmp_path / "home")
    assert done.returncode == 1
    assert done.stderr.startswith("http://127.0.0.1:1 could not be spoken to: ")
