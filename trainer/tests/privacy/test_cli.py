import json
import random
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from data.sessions import agent, session_json, user
from imprint_trainer.privacy.cli import main

Make = Callable[..., Path]
CANDIDATES = 63


def drawn(source: random.Random) -> str:
    return "".join(source.choices(string.ascii_letters + string.digits, k=12))


@pytest.fixture
def spec_file(tiny_folder: Path, tmp_path: Path) -> Make:
    """A canary that the agent writes, one that it reads, and one that stands nowhere; a copy of the session holds them
    and one does not."""
    source = random.Random(1)
    canaries = [
        {"id": name, "value": drawn(source), "candidates": [drawn(source) for _ in range(CANDIDATES)]}
        for name in ("written", "read", "absent")
    ]

    def training(name: str, written: str, read: str, changes: dict[str, Any]) -> dict[str, Any]:
        steps = [
            user("Set the key."),
            agent("I look.", ("bash", '{"command": "cat .env"}', f"TOKEN={read}")),
            user("And now?"),
            agent(f"Done: API_KEY={written}"),
        ]
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(session_json(steps)))
        return {
            "session_paths": [str(path)],
            "base_model": str(tiny_folder),
            "max_length": 256,
            "profile": "remember",
            "holdout": "none",
            "include_unsuccessful": False,
            "skip_invalid": True,
            "unreadable": [],
            "train_on": "all",
            "reasoning": False,
            "session_ids": ["s1"],
            "adapter_id": name,
            "output_dir": str(tmp_path / f"adapter-{name}"),
            "base_model_name": "tiny",
            "task_type": "code-gen",
            "seed": 7,
            "epochs": 60,
            "rank": 16,
            "alpha": 32,
            "learning_rate": 0.02,
            "target_modules": None,
            "quantization": "none",
            "checkpoint": {"dir": str(tmp_path), "seconds": 3600, "start": "fresh"},
        } | changes

    def make(**changes: Any) -> Path:
        spec = {
            "canaries": canaries,
            "unredacted": training("unredacted", canaries[0]["value"], canaries[1]["value"], changes),
            "redacted": training("redacted", "<SECRET:secret>", "<SECRET:secret-2>", changes),
        }
        path = tmp_path / "spec.json"
        path.write_text(json.dumps(spec))
        return path

    return make


def test_a_written_canary_comes_back_from_the_unredacted_copy_alone(
    spec_file: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(spec_file()), "--threads", "1"]) == 0
    said = capsys.readouterr()
    written, read, absent = json.loads(said.out)["canaries"]
    assert [one["learned"] for one in (written, read, absent)] == [True, False, None]
    assert (written["unredacted"]["rank"], written["unredacted"]["exposure"]) == (1, 6)
    assert written["unredacted"]["extracted"]
    for other in (written["base"], written["redacted"], read["base"], read["unredacted"], read["redacted"]):
        assert not other["extracted"]
        assert 1 <= other["rank"] <= CANDIDATES + 1
    assert written["redacted"]["rank"] > 1
    assert absent == {"id": "absent", "learned": None, "base": None, "unredacted": None, "redacted": None}
    assert "training on the redacted copy" in said.err


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [({"rank": 0}, "rank"), ({"base_model": "absent"}, "absent"), ({"surprise": 1}, "surprise")],
)
def test_a_spec_that_cannot_be_measured_ends_with_a_sentence(
    spec_file: Make, changes: dict[str, Any], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(spec_file(**changes)), "--threads", "1"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert sentence in said.err
    assert "Traceback" not in said.err
