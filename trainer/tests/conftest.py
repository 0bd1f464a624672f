"""A tiny real base model: two Llama layers, a byte-level tokenizer and a ChatML template, made anew for each run."""

import random
import shutil
from pathlib import Path

import hypothesis
import pytest
import torch

from imprint_trainer.environment import settle_environment

settle_environment()
# How long an example takes depends on what else the machine does.
hypothesis.settings.register_profile("imprint", deadline=None)
hypothesis.settings.load_profile("imprint")

from imprint_trainer.data.windows import Window  # noqa: E402
from imprint_trainer.models import load  # noqa: E402
from imprint_trainer.models.causal_lm import LoadedBase  # noqa: E402
from imprint_trainer.models.device import fix_numerics  # noqa: E402
from tiny_model import write_tiny_model  # noqa: E402


@pytest.fixture(autouse=True)
def _numerics() -> None:
    """Of each test: workers and commands that ran in this process before it left their own."""
    fix_numerics(torch.device("cpu"), 1)


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def tiny_copy(tiny_folder: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(tiny_folder, tmp_path / "copy"))


@pytest.fixture
def base(tiny_folder: Path) -> LoadedBase:
    """Unquantised, fp32."""
    return load.load_base(str(tiny_folder), quantization="none", device="cpu")


@pytest.fixture(params=["linear4bit", "dequantised", "dequantised to bf16"])
def nf4_base(request: pytest.FixtureRequest, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch) -> LoadedBase:
    """In each way that CPUs hold it, whatever this one is."""
    monkeypatch.setattr(load, "multiplies_bf16", lambda: request.param == "dequantised to bf16")
    return load.load_base(str(tiny_folder), device="cpu", dequantised=request.param != "linear4bit")


@pytest.fixture
def windows() -> list[Window]:
    """Three windows of different lengths; about a third of the tokens is supervised, in stretches."""
    source = random.Random(5)

    def window(length: int) -> Window:
        ids = tuple(source.randrange(10, 300) for _ in range(length))
        return Window(ids, tuple(index % 9 in (5, 6, 7) for index in range(length)))

    return [window(40), window(64), window(25)]


def snapshot(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}
