import json
from pathlib import Path

import pytest
import torch

from data.sessions import agent, session_json, user
from doc_to_lora.tiny import random_tensors, tiny_config
from imprint_trainer.doc_to_lora.checkpoint import store
from imprint_trainer.doc_to_lora.checkpoint.build import build
from imprint_trainer.doc_to_lora.evaluation.imprints import Imprinter
from imprint_trainer.doc_to_lora.modeling import Hypernetwork
from imprint_trainer.models.base import LoadedBase

CHUNK = 256  # ids, of the tiny hypernetworks
WORDS = ["wharf", "quay", "mooring", "bollard", "fender", "hawser", "capstan", "berth", "jetty", "slipway"]


def network(base: LoadedBase, strength: float) -> Hypernetwork:
    """Random adapters in the upper of two layers, as strong as asked."""
    config = tiny_config(base.model, base_model_name_or_path="tiny", layer_indices=(1,), max_chunk_length=CHUNK)
    tensors = random_tensors(config)
    made = build(config, tensors)
    made.requires_grad_(False)
    made.scaler_B["down_proj"].fill_(strength)
    made.bias_B["down_proj"].mul_(strength)
    return made


@pytest.fixture
def silent(base: LoadedBase) -> Imprinter:
    return Imprinter(base, network(base, 0.0), calibrated=False)


@pytest.fixture
def noisy(base: LoadedBase) -> Imprinter:
    return Imprinter(base, network(base, 12.0), calibrated=False)


@pytest.fixture
def groups(tmp_path: Path) -> Path:
    """Two repositories with two sessions each, of which a part of one chunk goes on."""
    for name in ("harbour", "yard"):
        for number in (1, 2):
            steps = [user(f"Where is everything at {name} {number}?")]
            steps += [agent(f"The {word} of {name} {number} is behind the {word}. " * 2) for word in WORDS]
            folder = tmp_path / "groups" / name
            folder.mkdir(parents=True, exist_ok=True)
            text = json.dumps(session_json(steps, session_id=f"{name}-{number}"))
            (folder / f"{number:02}.json").write_text(text, encoding="utf-8")
    return tmp_path / "groups"


@pytest.fixture
def installed(base: LoadedBase, tmp_path: Path) -> Path:
    """The noisy hypernetwork in a folder."""
    made = network(base, 12.0)
    tensors = {name: tensor.to(torch.float32) for name, tensor in made.state_dict().items()}
    store.save(made.config, tensors, tmp_path / "hypernetworks" / "noisy")
    return tmp_path / "hypernetworks" / "noisy"
