import errno
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest
from huggingface_hub import close_session, file_download

from hub_double import COMMIT, TOKEN, Hub, hub_double
from imprint_trainer.bases import cli, progress
from imprint_trainer.errors import TrainerError, machine_failures
from imprint_trainer.jobs.worker import fetch
from imprint_trainer.models.locate import locate_base

Pull = Callable[[], dict[str, Any]]


@pytest.fixture
def hub(tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub with a model that has code and pickles beside it, which nobody needs. The library of this process asks it,
    and keeps what it gets in `tmp_path`."""
    with hub_double() as made:
        made.files = {path.name: path.read_bytes() for path in tiny_folder.iterdir() if path.is_file()}
        made.files |= {"modeling_tiny.py": b"raise SystemExit", "pytorch_model.bin": b"\x80"}
        reach(made.url, tmp_path, monkeypatch)
        yield made
    close_session()


def reach(url: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"ENDPOINT": url, "HF_HUB_CACHE": str(home / "hub"), "HF_HUB_OFFLINE": False}
    settings["HUGGINGFACE_CO_URL_TEMPLATE"] = f"{url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    for name, value in settings.items():
        monkeypatch.setattr(huggingface_hub.constants, name, value)
    for name, text in {"HF_TOKEN": TOKEN, "IMPRINT_ALLOW_DOWNLOADS": "1", "NO_PROXY": "127.0.0.1"}.items():
        monkeypatch.setenv(name, text)
    monkeypatch.setattr(file_download.time, "sleep", lambda _: None)  # between the tries of a download
    close_session()  # one that knew another hub


@pytest.fixture(params=["imprint models pull", "a training where downloads are allowed"])
def pull(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Pull:
    """Either way, and what came of it: a folder or an error."""

    def by_command() -> dict[str, Any]:
        code = cli.main(["pull", "me/tiny", "--out", "/nowhere"])
        said: dict[str, Any] = json.loads(capsys.readouterr().out)
        assert code == ("error" in said)
        return said

    def by_training() -> dict[str, Any]:
        try:
            with machine_failures():
                fetch("me/tiny")
            return {"folder": str(locate_base("me/tiny").folder)}
        except TrainerError as error:
            return {"error": {"code": error.code, "message": f"{error.message}. {error.hint}"}}

    return by_command if request.param == "imprint models pull" else by_training


def refusal(ended: dict[str, Any]) -> str:
    """The sentence of a pull that failed."""
    return str(ended["error"]["message"])


def kept(home: Path) -> list[Path]:
    """Files in the hub's cache, without what a pull goes on with."""
    return [path for path in (home / "hub").rglob("*") if path.is_file() and path.suffix not in (".begun", ".lock")]


def snapshot(home: Path) -> Path:
    return home / "hub" / "models--me--tiny" / "snapshots" / COMMIT


def needed(hub: Hub) -> dict[str, bytes]:
    return {name: body for name, body in hub.files.items() if not name.endswith((".py", ".bin"))}


SMALL = {"config.json", "tokenizer_config.json", "generation_config.json"}


def test_what_a_model_needs_is_fetched_once_and_no_code(hub: Hub, tmp_path: Path, pull: Pull) -> None:
    whole = needed(hub)
    again = ["consolidated.safetensors", "original/model-00001.safetensors", "original/params.json", "model.fp16.json"]
    again += ["templates/chat.jinja", "model-Q4_K_M.gguf", "onnx/model.onnx"]
    hub.files |= dict.fromkeys(again, b"the same once more")
    assert pull() == {"folder": str(snapshot(tmp_path))}
    assert hub.sent.keys() == whole.keys()
    found = {path.name: path.read_bytes() for path in snapshot(tmp_path).iterdir() if path.suffix != ".gguf"}
    assert found == whole
    sent = dict(hub.sent)
    assert pull() == {"folder": str(snapshot(tmp_path))}
    assert {name: count for name, count in hub.sent.items() if name not in SMALL} == {
        name: count for name, count in sent.items() if name not in SMALL
    }


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_cut_is_a_sentence_and_the_next_pull_sends_the_rest_alone(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, pull: Pull
) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "DOWNLOAD_CHUNK_SIZE", 1024)
    hub.cut = {name}
    assert refusal(pull()).endswith("was cut off. Pulling again goes on with what was fetched.")
    assert not snapshot(tmp_path).exists()
    before = hub.sent[name]
    assert before > len(hub.files[name]) // 2
    hub.cut.clear()
    assert pull() == {"folder": str(snapshot(tmp_path))}
    assert (snapshot(tmp_path) / name).read_bytes() == hub.files[name]
    assert hub.sent[name] - before < len(hub.files[name]) // 5


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_file_with_another_hash_is_removed(hub: Hub, tmp_path: Path, name: str, pull: Pull) -> None:
    hub.wrong = {name}
    assert refusal(pull()).startswith(f"{name} of me/tiny does not have the hash that the hub names; it was removed")
    assert not snapshot(tmp_path).exists()
    assert not list((tmp_path / "hub").rglob("*.begun"))


def test_a_gated_model_is_explained(hub: Hub, tmp_path: Path, pull: Pull) -> None:
    hub.gated = True
    said = refusal(pull())
    assert said.startswith(f"me/tiny is gated: accept its terms at {hub.url}/me/tiny, then set HF_TOKEN or log in with")
    assert TOKEN not in said
    assert kept(tmp_path) == []


def test_a_model_that_the_hub_does_not_have_is_a_sentence(hub: Hub, tmp_path: Path, pull: Pull) -> None:
    hub.files = {}
    assert refusal(pull()).startswith("the hub has no me/tiny, or it is private: check the name;")
    assert kept(tmp_path) == []


def test_a_hub_that_cannot_be_reached_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pull: Pull
) -> None:
    reach("http://127.0.0.1:1", tmp_path, monkeypatch)
    assert refusal(pull()).startswith("the hub http://127.0.0.1:1 cannot be reached for me/tiny")
    assert kept(tmp_path) == []


def test_a_full_disk_is_said_before_the_weights_are_fetched(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pull: Pull
) -> None:
    monkeypatch.setattr(progress.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 10**6}))
    assert "0.3 GB are needed in" in refusal(pull())
    assert hub.sent.keys() <= SMALL
    assert kept(tmp_path) == []


def test_a_disk_that_runs_full_on_the_way_is_a_sentence(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pull: Pull
) -> None:
    def write(url: str, *given: Any, **more: Any) -> None:
        if url.endswith(".safetensors"):
            raise OSError(errno.ENOSPC, "full")
        get(url, *given, **more)

    get = file_download.http_get
    monkeypatch.setattr(file_download, "http_get", write)
    assert refusal(pull()).startswith("The disk of the data directory is full (ENOSPC).")
    assert not snapshot(tmp_path).exists()


REMOTE = {"AutoConfig": "modeling_tiny.C", "AutoModelForCausalLM": "modeling_tiny.X", "AutoTokenizer": ["x.Y", None]}


def changed(hub: Hub, file: str, **values: Any) -> None:
    hub.files[file] = json.dumps({**json.loads(hub.files.get(file, b"{}")), **values}).encode()


def test_an_auto_map_of_a_family_that_transformers_has_is_passed_over(hub: Hub, tmp_path: Path, pull: Pull) -> None:
    for name in ("config.json", "tokenizer_config.json"):
        changed(hub, name, auto_map=REMOTE)
    assert pull() == {"folder": str(snapshot(tmp_path))}
    assert "modeling_tiny.py" not in hub.sent


@pytest.mark.parametrize(
    ("file", "values", "said"),
    [
        ("config.json", {"model_type": "evil", "auto_map": REMOTE}, "config.json of tiny names code to run (auto"),
        ("config.json", {"auto_map": REMOTE, "custom_code": "x"}, "config.json of tiny names code to run (cust"),
        ("tokenizer_config.json", {"tokenizer_class": "Evil", "auto_map": REMOTE}, "tokenizer_config.json of tiny na"),
        ("config.json", {"model_type": "qwen2_moe", "num_experts": 8}, "tiny is a mixture of experts"),
        ("config.json", {"quantization_config": {"quant_method": "awq"}}, "tiny is stored quantised (awq)"),
        ("config.json", {"model_type": "evil"}, "config.json of tiny cannot be read"),
        ("config.json", {"model_type": "vit"}, "tiny is a vit, of which transformers has no model"),
        ("adapter_config.json", {}, "tiny holds adapter_config.json"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_its_weights_are_fetched(
    hub: Hub, tmp_path: Path, file: str, values: dict[str, Any], said: str, pull: Pull
) -> None:
    changed(hub, file, **values)
    assert said in refusal(pull())
    assert hub.sent.keys() <= SMALL
    assert kept(tmp_path) == []


def test_weights_in_pickles_alone_are_refused(hub: Hub, tmp_path: Path, pull: Pull) -> None:
    del hub.files["model.safetensors"]
    assert "tiny holds only pickled weights" in refusal(pull())
    assert kept(tmp_path) == []
