"""The page that says what a training is, examples/reference_lora.py, against the product: the same targets and the same
adapter from the same session, model and seed."""

import json
import runpy
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from data.sessions import agent, session_json, system, user
from data.test_select import spec_of
from imprint_trainer.data.prepare import prepare_windows
from imprint_trainer.data.session import load_session
from imprint_trainer.jobs.context import JobContext
from imprint_trainer.jobs.lora import train_lora
from imprint_trainer.models.causal_lm import LoadedBase
from imprint_trainer.models.locate import tokenizer_of
from imprint_trainer.models.memory import PeakMemory
from imprint_trainer.protocol import TrainLoraSpec
from jobs.tiny import tiny_job

REFERENCE = Path(__file__).parents[2] / "examples" / "reference_lora.py"
STEPS = [
    system("Be brief."),
    user("Fix the price."),
    agent("I look.", ("bash", '{"command": "ls"}', "prices.py")),
    agent("No.", context_only="failed"),
    agent("Key <SECRET:aws-key>, naïve."),
    user("And now?"),
    agent("", ("edit", "not json", "done")),
    agent(" "),
    agent("Fixed."),
    user("And now?"),
    agent("Nothing."),
    user("And now?"),
    agent("Nothing."),
]


def test_the_reference_and_the_product_give_the_same_adapter(
    base: LoadedBase, tiny_folder: Path, tmp_path: Path
) -> None:
    reference: dict[str, Any] = runpy.run_path(str(REFERENCE))
    path = tmp_path / "s.json"
    path.write_text(json.dumps(session_json(STEPS)), encoding="utf-8")
    tokenizer = AutoTokenizer.from_pretrained(tiny_folder)

    ids, mask = reference["window_of"](json.loads(path.read_text(encoding="utf-8")), tokenizer)
    (window,) = prepare_windows(load_session(path), tokenizer_of(str(tiny_folder)), max_length=512).windows
    assert (tuple(ids), tuple(mask)) == (window.input_ids, window.supervised)
    assert 0 < sum(mask) < len(mask)

    job = tiny_job(tmp_path)
    (tmp_path / "out").mkdir()
    spec = TrainLoraSpec.model_validate(spec_of([path], base_model=str(tiny_folder)).model_dump() | job)
    events: list[dict[str, Any]] = []
    memory = PeakMemory(torch.device("cpu"))
    context = JobContext(events.append, lambda: False, lambda *_, **__: base, tokenizer_of, memory)
    train_lora(spec, context)
    model = AutoModelForCausalLM.from_pretrained(tiny_folder, dtype=torch.float32)
    trained = reference["train"](model, ids, mask, job["seed"], job["rank"], job["alpha"], job["learning_rate"])
    trained.save_pretrained(tmp_path / "reference")

    ours = load_file(tmp_path / "out" / "adapter_model.safetensors")
    theirs = load_file(tmp_path / "reference" / "adapter_model.safetensors")
    assert ours.keys() == theirs.keys()
    assert max(float((ours[key] - theirs[key]).abs().max()) for key in ours) < 1e-5
    assert all(float(ours[key].abs().max()) > 1e-4 for key in ours)  # something was learned
