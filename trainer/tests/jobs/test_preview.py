"""The preview's numbers are the job's, on recorded sessions."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from transformers import LlamaConfig, LlamaForCausalLM

from data.families import tokenizer_of
from data.recorded import trainable
from imprint_trainer.errors import Cancelled, TargetModulesNotFound
from imprint_trainer.jobs.context import JobContext
from imprint_trainer.jobs.lora import train_lora
from imprint_trainer.jobs.preview import check_targets, preview_sessions
from imprint_trainer.models.load import load_base
from imprint_trainer.models.memory import PeakMemory
from imprint_trainer.models.supported import linear_layers
from imprint_trainer.protocol import PreviewSpec, TrainLoraSpec
from jobs.tiny import tiny_job

SESSIONS = 10
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "src")}
NUMBERS = ("windows", "tokens", "supervised_tokens", "max_steps")


def test_a_preview_does_without_torch() -> None:
    """Importing it takes seconds that whoever asks for a preview would wait."""
    script = "import sys, imprint_trainer.jobs.preview; print('torch' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True, env=ENVIRONMENT)
    assert ran.stdout == "False\n"


def write_base(folder: Path, name: str) -> None:
    tokenizer = tokenizer_of(name)
    tokenizer.save_pretrained(folder)
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), **sizes)).save_pretrained(folder)


@pytest.mark.parametrize("name", ["chatml", "llama3", "mistral"])
def test_a_job_plans_what_the_preview_says(name: str, tmp_path: Path) -> None:
    write_base(tmp_path / "base", name)
    base = load_base(str(tmp_path / "base"), quantization="none", device="cpu")
    chosen = sorted(trainable(), key=lambda session: len(session.model_dump_json()))[:SESSIONS]
    assert len(chosen) >= 2
    for session in chosen:
        path = tmp_path / "session.json"
        path.write_text(session.model_dump_json(), encoding="utf-8")
        data: dict[str, Any] = {
            "session_paths": [str(path)],
            "session_ids": [session.session_id],
            "skip_invalid": False,
            "unreadable": [],
            "base_model": str(tmp_path / "base"),
            "max_length": 1024,
            "include_unsuccessful": True,
            "train_on": "all",
            "reasoning": False,
            "profile": "remember",
            "holdout": "none",
            "epochs": 2,
            "within": None,
            "rank": 2,
            "target_modules": None,
            "quantization": "none",
        }
        plans: list[dict[str, Any]] = []

        def note(event: dict[str, Any], plans: list[dict[str, Any]] = plans) -> None:
            plans.extend(event["plan"] for _ in [event] if event["type"] == "plan")

        # Cancelled once planned: the numbers are the job's, the steps would only cost time.
        context = JobContext(
            note,
            lambda plans=plans: bool(plans),  # type: ignore[misc]
            lambda *_, **__: base,
            lambda _: base.tokenizer,
            PeakMemory(base.device),
        )
        with pytest.raises(Cancelled):
            train_lora(TrainLoraSpec.model_validate(data | tiny_job(tmp_path)), context)
        shown = preview_sessions(PreviewSpec.model_validate(data), base.tokenizer, device="cpu")
        assert {key: plans[0][key] for key in NUMBERS} == {key: shown[key] for key in NUMBERS}, session.session_id
        assert plans[0]["dropped"] == shown["dropped"]


def test_modules_are_refused_before_anything_is_loaded_as_the_training_would(tmp_path: Path) -> None:
    write_base(tmp_path, "chatml")
    layers = linear_layers(load_base(str(tmp_path), quantization="none", device="cpu").model)
    check_targets(tmp_path, [*layers, "q_proj", "mlp.up_proj"])
    for name in ("foo", "proj", "lm_head", "layers"):
        with pytest.raises(TargetModulesNotFound, match=f"{name} matches no linear layer; near are"):
            check_targets(tmp_path, ["q_proj", name])
