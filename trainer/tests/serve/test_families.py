"""Families that compute their logits or their attention in a way of their own, from a folder to a proved adapter."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText, AutoTokenizer

from d2l.tiny import random_tensors, tiny_config
from imprint_trainer.imprint.folder import save
from imprint_trainer.publish.losses import neutral_window
from serve.conftest import Spec
from serve.running import RunningWorker
from tiny_model import write_family

SHARED = ("include_unsuccessful", "adapter_id", "output_dir", "base_model", "base_model_name", "task_type", "seed")


@pytest.fixture(scope="module")
def bare_worker() -> Iterator[RunningWorker]:
    running = RunningWorker()
    yield running
    assert running.close() == 0


DENSE = ["granite", "cohere", "cohere2", "gemma2", "gemma3_text"]
OTHERS = ["falcon_h1", "nemotron_h", "gemma3", "mistral3"]  # the others: models/test_supported.py


@pytest.mark.parametrize("family", DENSE + OTHERS)
def test_a_lora_job_measures_what_the_model_itself_says_and_its_adapter_answers(
    bare_worker: RunningWorker,
    family: str,
    lora_spec: Spec,
    new_job_id: Callable[[], str],
    chat_spec: Callable[..., dict[str, Any]],
    tmp_path: Path,
) -> None:
    folder = write_family(tmp_path / family, family)
    spec = lora_spec(base_model=str(folder), quantization="none", learning_rate=3e-3)
    last = bare_worker.job(new_job_id(), spec)[-1]
    assert last["type"] == "done", last
    proof = last["result"]["proof"]
    assert proof["loss_after"] < proof["loss_before"]
    ids = torch.tensor([neutral_window(AutoTokenizer.from_pretrained(folder)).input_ids])
    with torch.no_grad():
        own = whole_model(folder)(input_ids=ids, labels=ids).loss
    assert proof["neutral_loss_before"] == pytest.approx(float(own), rel=1e-4)
    answer = bare_worker.call("chat", chat_spec(base_model=str(folder), adapter_path=spec["output_dir"]))
    assert answer["type"] == "answer" and answer["result"]["completion_tokens"] > 0, answer


def whole_model(folder: Path) -> Any:
    """As the card says to load it."""
    for auto in (AutoModelForImageTextToText, AutoModelForCausalLM):
        if type(AutoConfig.from_pretrained(folder)) in auto._model_mapping:
            return auto.from_pretrained(folder)
    raise AssertionError


@pytest.mark.parametrize("family", DENSE)
def test_a_hypernetwork_imprints_it(
    bare_worker: RunningWorker, family: str, lora_spec: Spec, new_job_id: Callable[[], str], tmp_path: Path
) -> None:
    folder = write_family(tmp_path / family, family)
    model = AutoModelForCausalLM.from_pretrained(folder)
    config = tiny_config(model, base_model_name_or_path="tiny", layer_indices=(1, 2, 3))
    save(config, random_tensors(config), tmp_path / "hypernetworks" / "mine")
    lora = lora_spec(base_model=str(folder))
    spec: dict[str, Any] = {key: lora[key] for key in SHARED} | {
        "session_path": lora["session_paths"][0],
        "session_id": "s1",
        "hypernetworks_dirs": [str(tmp_path / "hypernetworks")],
        "max_chunk_length": None,
        "max_chunks": 16,
        "scaling": 0.01,
        "compress_rank": None,
    }
    last = bare_worker.job(new_job_id(), spec, "train_hypernetwork")[-1]
    assert last["type"] == "done", last
    assert last["result"]["proof"]["loss_before"] != last["result"]["proof"]["loss_after"]
