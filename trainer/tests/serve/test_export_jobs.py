import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from imprint_trainer.models.causal_lm import LoadedBase
from publish.sources import random_payload, write_adapter
from serve.running import RunningWorker, job_id


@pytest.fixture
def export_spec(base: LoadedBase, tiny_folder: Path, tmp_path: Path) -> dict[str, Any]:
    adapter = write_adapter(tmp_path / "adapter", random_payload(base.model))
    (adapter / "README.md").write_text("---\nlibrary_name: peft\n---\n# tiny-adapter\n\n## Proof\n")
    return {
        "adapter_id": "tiny-adapter",
        "adapter_path": str(adapter),
        "base_model": str(tiny_folder),
        "base_model_name": "tiny",
        "format": "gguf",
        "output_dir": str(tmp_path / "out"),
    }


def test_an_export_hands_over_its_files_and_no_proof(worker: RunningWorker, export_spec: dict[str, Any]) -> None:
    *before, done = worker.job(job_id(1), export_spec, "export")
    assert [event["phase"] for event in before] == ["exporting"]
    assert done["result"].keys() == {"files", "warnings"}
    [file] = done["result"]["files"]
    content = (Path(export_spec["output_dir"]) / "tiny-adapter.gguf").read_bytes()
    assert file == {"name": "tiny-adapter.gguf", "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def test_a_merged_export_is_a_base_model_with_a_card(worker: RunningWorker, export_spec: dict[str, Any]) -> None:
    done = worker.job(job_id(2), export_spec | {"format": "merged"}, "export")[-1]
    names = {file["name"] for file in done["result"]["files"]}
    assert {"config.json", "model.safetensors", "tokenizer.json", "README.md"} <= names
    card = (Path(export_spec["output_dir"]) / "README.md").read_text()
    assert card.startswith('---\nbase_model: "tiny"\nbase_model_relation: finetune\n')
    assert "# tiny-adapter, merged\n" in card
    assert card.endswith("\n## tiny-adapter\n\n### Proof\n")
    assert "library_name: peft" not in card


def test_an_export_that_fails_says_why_and_leaves_nothing(worker: RunningWorker, export_spec: dict[str, Any]) -> None:
    config = Path(export_spec["adapter_path"]) / "adapter_config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"use_rslora": True}))
    failed = worker.job(job_id(3), export_spec, "export")[-1]
    assert (failed["type"], failed["error"]["code"]) == ("failed", "EXPORT_UNSUPPORTED")
    assert list(Path(export_spec["output_dir"]).iterdir()) == []
