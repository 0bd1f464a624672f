"""What an imprint takes is planned before its base is loaded."""

from pathlib import Path
from typing import Any

import pytest

from imprint_trainer.errors import OutOfMemory
from imprint_trainer.imprint import memory as module
from imprint_trainer.imprint.cli import main
from imprint_trainer.imprint.config import ClosedFormConfig
from imprint_trainer.imprint.memory import Solved, adapted_blocks, planned_imprint
from imprint_trainer.jobs.imprint import imprint
from models.test_memory import base_folder

SEVEN_BILLION = {"hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28, "intermediate_size": 18944}
LAYERS = len(adapted_blocks(28))


@pytest.fixture
def seven_billion(tmp_path: Path) -> str:
    return str(base_folder(tmp_path, **SEVEN_BILLION))


def with_memory(monkeypatch: pytest.MonkeyPatch, megabytes: float) -> None:
    monkeypatch.setattr(module, "available_mb", lambda _: megabytes)


def test_the_tables_of_the_adapted_layers_are_counted(monkeypatch: pytest.MonkeyPatch, seven_billion: str) -> None:
    with_memory(monkeypatch, 64_000)
    planned, _ = planned_imprint(seven_billion, None, "cpu")
    assert planned.memory is not None
    tables = 4 * (LAYERS + 5) * 18944**2 / 1e6
    assert tables < planned.memory["activations_mb"] < 1.1 * tables
    assert planned.memory["fits"]


@pytest.mark.parametrize("inputs", [1536, 18944])
def test_what_is_said_before_a_measurement_is_enough_for_the_imprint(inputs: int) -> None:
    measured = ClosedFormConfig.model_fields["most_supervised"].default
    assert Solved(LAYERS, inputs, 576).bytes >= Solved(LAYERS, inputs, 576, tokens=measured).bytes


def test_a_base_is_kept_in_four_bits_where_its_plain_numbers_leave_too_little(
    monkeypatch: pytest.MonkeyPatch, seven_billion: str
) -> None:
    held = []
    for megabytes in (64_000, 31_500):
        with_memory(monkeypatch, megabytes)
        planned, dequantised = planned_imprint(seven_billion, Solved(LAYERS, 18944, 3584), "cuda")
        planned.require_fit()
        held.append(dequantised)
    assert held == [None, False]


def test_what_does_not_fit_is_refused_with_what_would(monkeypatch: pytest.MonkeyPatch, seven_billion: str) -> None:
    with_memory(monkeypatch, 8_000)
    planned, _ = planned_imprint(seven_billion, Solved(LAYERS, 18944, 3584), "cpu")
    with pytest.raises(OutOfMemory, match=r"^the imprint would take 2\d\.\d GB, and 8\.0 GB .* Train a LoRA adapter"):
        planned.require_fit()


def test_neither_a_job_nor_a_measurement_loads_a_base_that_does_not_fit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tiny_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with_memory(monkeypatch, 100)
    (tmp_path / "text.md").write_text("words")
    arguments = ["--base", str(tiny_folder), "--texts", str(tmp_path), "--out", str(tmp_path / "out")]
    assert main(["measure", *arguments, "--device", "cpu"]) == 2
    assert "OUT_OF_MEMORY: the imprint would take" in capsys.readouterr().err
    folder = tmp_path / "hypernetworks" / "mine"
    folder.mkdir(parents=True)
    config = ClosedFormConfig(
        base_model_name_or_path="tiny",
        layer_indices=(1,),
        target_modules=("down_proj",),
        d_in={"down_proj": 128},
        d_out={"down_proj": 64},
        feature_size=64,
        axes=8,
    )
    (folder / "hypernetwork.json").write_text(config.model_dump_json())
    (folder / "model.safetensors").write_bytes(b"never read")
    with pytest.raises(OutOfMemory, match="^the imprint would take"):
        imprint(Spec(tiny_folder, folder.parent), Context())  # type: ignore[arg-type]


class Spec:
    base_model_name = "tiny"

    def __init__(self, base: Path, hypernetworks: Path) -> None:
        self.base_model = str(base)
        self.hypernetworks_dirs = [str(hypernetworks)]


class Context:
    device = "cpu"

    def base(self, *_: Any, **__: Any) -> None:
        raise AssertionError("the base is loaded")
